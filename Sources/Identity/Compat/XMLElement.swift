import Platform

/// An element of an XML document, to be written.
struct XMLElement: Sendable {
    private let name: String
    private let namespace: String?
    private let content: Content

    private indirect enum Content: Sendable {
        case text(String)
        case elements([XMLElement])
    }

    init(_ name: String, _ text: String) {
        self.name = name
        namespace = nil
        content = .text(text)
    }

    init(_ name: String, namespace: String? = nil, _ elements: [XMLElement]) {
        self.name = name
        self.namespace = namespace
        content = .elements(elements)
    }

    /// The element as text.
    var text: String {
        var output = ""
        write(to: &output)
        return output
    }

    private func write(to output: inout String) {
        output += "<\(name)"
        if let namespace { output += " xmlns=\"\(Self.escaped(namespace))\"" }
        output += ">"
        switch content {
        case .text(let text): output += Self.escaped(text)
        case .elements(let elements): for element in elements { element.write(to: &output) }
        }
        output += "</\(name)>"
    }

    /// Escapes markup and carriage returns; characters that XML 1.0 (section 2.2) cannot hold become U+FFFD.
    static func escaped(_ text: String) -> String {
        var held = String.UnicodeScalarView()
        for scalar in Markup.escaped(text).unicodeScalars {
            switch scalar {
            case "\r": held.append(contentsOf: "&#13;".unicodeScalars)
            case "\t", "\n", "\u{20}"..."\u{FFFD}", "\u{10000}"...: held.append(scalar)
            default: held.append("\u{FFFD}")
            }
        }
        return String(held)
    }
}
