import JSON
import Platform

/// An element of an XML document, to be written.
struct XMLElement: Sendable {
    private let name: String
    private let namespace: String?
    private let content: Content

    private indirect enum Content: Sendable {
        /// A number is written as such in JSON.
        case text(String, number: Int64?)
        case elements([XMLElement])
    }

    init(_ name: String, _ text: String, number: Int64? = nil) {
        self.name = name
        namespace = nil
        content = .text(text, number: number)
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

    /// The element as AWS writes it in JSON: an object with it as the only member.
    var json: JSONObject { [name: value] }

    /// What is in it, as the members of an object.
    var members: JSONObject { value.object ?? [:] }

    private var value: JSONValue {
        switch content {
        case .text(let text, let number): return number.map { .number(JSONNumber($0)) } ?? .string(text)
        case .elements(let elements):
            var object = JSONObject()
            for element in elements { object[element.name] = element.value }
            return .object(object)
        }
    }

    private func write(to output: inout String) {
        output += "<\(name)"
        if let namespace { output += " xmlns=\"\(Self.escaped(namespace))\"" }
        output += ">"
        switch content {
        case .text(let text, _): output += Self.escaped(text)
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
