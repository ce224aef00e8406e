import JSON
import Platform

/// An element of an XML document.
struct XMLElement: Sendable {
    private let name: String
    private let namespace: String?
    private let content: Content

    private indirect enum Content: Sendable {
        /// A text element. If `number` is set, its JSON value is a number.
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

    /// The element as XML.
    var text: String {
        var output = ""
        write(to: &output)
        return output
    }

    /// The element in the JSON format of AWS: an object with the element as its only member.
    var json: JSONObject { [name: value] }

    /// The content of the element as the members of an object.
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

    /// Escapes markup and carriage returns. Characters that XML 1.0 §2.2 does not allow are replaced by U+FFFD.
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
