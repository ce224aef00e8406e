import JSON

/// Writes JSON with short values in one line.
enum CompactJSON {
    static func text(_ value: JSONValue, indent: String = "") -> String {
        let flat = flat(value)
        if flat.count + indent.count <= 84 { return flat }
        let inner = indent + "  "
        switch value {
        case .object(let object) where !object.isEmpty:
            let members = object.members.map { "\(inner)\(JSONValue.string($0.name).text): \(text($0.value, indent: inner))" }
            return "{\n" + members.joined(separator: ",\n") + "\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            return "[\n" + elements.map { inner + text($0, indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        default: return flat
        }
    }

    private static func flat(_ value: JSONValue) -> String {
        switch value {
        case .object(let object):
            "{" + object.members.map { "\(JSONValue.string($0.name).text): \(flat($0.value))" }.joined(separator: ", ") + "}"
        case .array(let elements): "[" + elements.map(flat).joined(separator: ", ") + "]"
        default: value.text
        }
    }
}
