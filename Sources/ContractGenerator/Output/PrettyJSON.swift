import JSON

/// Formats JSON for reading. A value that fits on one line is written on one line.
enum PrettyJSON {
    private static let width = 140

    static func text(_ value: JSONValue) -> String { text(value, indent: 0, used: 0) + "\n" }

    private static func text(_ value: JSONValue, indent: Int, used: Int) -> String {
        let flat = flat(value)
        if indent + used + flat.utf8.count <= width { return flat }
        let pad = String(repeating: " ", count: indent + 2)
        let end = "\n" + String(repeating: " ", count: indent)
        switch value {
        case .object(let object) where !object.isEmpty:
            let members = object.members.map { name, value in
                let key = JSONValue.string(name).text + ": "
                return pad + key + text(value, indent: indent + 2, used: key.utf8.count)
            }
            return "{\n" + members.joined(separator: ",\n") + end + "}"
        case .array(let elements) where !elements.isEmpty:
            return "[\n" + elements.map { pad + text($0, indent: indent + 2, used: 0) }.joined(separator: ",\n") + end + "]"
        default: return flat
        }
    }

    private static func flat(_ value: JSONValue) -> String {
        switch value {
        case .object(let object):
            return "{" + object.members.map { "\(JSONValue.string($0.name).text): \(flat($0.value))" }.joined(separator: ", ") + "}"
        case .array(let elements): return "[" + elements.map(flat).joined(separator: ", ") + "]"
        default: return value.text
        }
    }
}
