import Contract
import JSON
import Platform

/// Writes the names of methods in texts as the tools are called.
struct ToolNames: Sendable {
    /// Returns the reason for which the tool of a method is not offered, or `nil` if it is.
    let refusal: @Sendable (MethodInfo) -> String?
    private let methods: [String: MethodInfo]

    init(refusal: @escaping @Sendable (MethodInfo) -> String?) {
        self.refusal = refusal
        methods = Dictionary(uniqueKeysWithValues: Contract.MethodTable.all.map { ($0.name, $0) })
    }

    /// Returns the name of the tool of a method, or `nil` for other texts.
    func tool(_ name: String) -> String? {
        guard let info = methods[name] else { return nil }
        return info.name == "rpc.discover" ? "tools/list" : Tool.name(info)
    }

    /// Returns a text with the names of tools in place of those of methods.
    ///
    /// - Parameter explaining: Whether to append how tools are offered that this session does not have.
    func text(_ text: String, explaining: Bool = false) -> String {
        var missing: [MethodInfo] = []
        var result = ""
        var word = ""
        func close() {
            let end = word.reversed().prefix { $0 == "." }.count
            let name = String(word.dropLast(end))
            if let tool = tool(name) {
                result += tool + String(repeating: ".", count: end)
                if let info = methods[name], refusal(info) != nil, !missing.contains(where: { $0.name == name }) { missing.append(info) }
            } else {
                result += word
            }
            word = ""
        }
        for character in text {
            if character.isASCII, character.isLetter || character.isNumber || "._-/@".contains(character) {
                word.append(character)
            } else {
                close()
                result.append(character)
            }
        }
        close()
        guard explaining else { return result }
        let reasons = missing.filter { $0.name != "rpc.discover" }.compactMap { info in refusal(info).map { "\(Tool.name(info)): \($0)" } }
        return reasons.isEmpty ? result : "\(result) (Not offered now: \(reasons.joined(separator: " ")))"
    }

    /// Returns how the tools in a text are offered that this session does not have, as a paragraph. Empty if it has all of them.
    func missing(in text: String) -> String {
        let whole = self.text(text, explaining: true)
        let plain = self.text(text)
        return whole.count > plain.count ? "\n" + whole.dropFirst(plain.count + 1) : ""
    }

    /// The members that name methods or explain something.
    private static let members: Set = ["next", "hint", "message", "reason", "expected"]

    /// Returns a value with the names of tools in those members.
    func value(_ value: JSONValue, in member: String = "") -> JSONValue {
        switch value {
        case .object(let object):
            var copy = JSONObject()
            for each in object.members { copy[each.name] = self.value(each.value, in: each.name) }
            return .object(copy)
        case .array(let elements): return .array(elements.map { self.value($0, in: member) })
        case .string(let text) where Self.members.contains(member): return .string(self.text(text))
        default: return value
        }
    }

    /// Returns the bytes of a result with the names of tools. Data, such as the method of an audit record, does not change.
    func result(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let marks = Self.members.map { Array("\"\($0)\":\"".utf8) }
        guard marks.contains(where: { bytes.includes($0) }), let value = try? JSONValue(parsing: Array(bytes)) else {
            return Array(bytes)
        }
        var writer = JSONWriter()
        writer.value(self.value(value))
        return writer.bytes
    }
}
