import JSON

/// An error of the contract that is named at run time: what a test wants to be answered.
public struct ChosenError: Error, Sendable {
    public let code: Int
    public let type: String
    public let message: String
    /// Without `type`.
    public let data: JSONObject

    /// - Parameters:
    ///   - type: the error's type.
    ///   - given: members of its data; those that it needs beside them are made up.
    ///   - pointer: where `type` and `data` stand in the params.
    ///   - now: times that are made up are around it, in seconds since 1970.
    /// - Throws: `InvalidParams`.
    public init(type: String, data given: JSONObject, at pointer: (type: String, data: String), now: Int64) throws {
        guard let info = ErrorTable.all.first(where: { $0.type == type }), let entry = OpenRPCDocument.errors[type] else {
            let hint = NearestNames.hint(type, among: ErrorTable.all.map(\.type), otherwise: "To list the error types, call rpc.discover.")
            throw InvalidParams(violations: [Violation(pointer: pointer.type, rule: "enum", message: "Unknown error type \(type).\(hint)")])
        }
        let schema = ErrorDataSchema(entry["data"] ?? .null)
        let violations = schema.violations(given, at: pointer.data)
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
        code = info.code
        self.type = type
        data = schema.completed(given, at: now)
        // There is no log line that it could send people to.
        let isMadeUp = type == InternalError.type && given.isEmpty
        message =
            isMadeUp
            ? "Mintmark failed because test.fault injected this error. There is no log entry and nothing to report."
            : Self.message(entry["message"]?.string ?? "", data)
    }

    /// Puts the members into a message. What stands in brackets is said when the member in it is there.
    static func message(_ template: String, _ data: JSONObject) -> String {
        var text = ""
        for (index, part) in template.split(separator: "[", omittingEmptySubsequences: false).enumerated() {
            guard index > 0, let end = part.firstIndex(of: "]") else {
                text += filled(part, data) ?? ""
                continue
            }
            text += filled(part[..<end], data) ?? ""
            text += filled(part[part.index(after: end)...], data) ?? ""
        }
        return text
    }

    /// Nil if one of its members is missing.
    private static func filled(_ part: Substring, _ data: JSONObject) -> String? {
        var (text, rest) = ("", part)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            guard let value = data[String(rest[rest.index(after: open)..<close])], value.array?.isEmpty != true else { return nil }
            text += rest[..<open] + shown(value)
            rest = rest[rest.index(after: close)...]
            if rest.hasPrefix("."), text.hasSuffix(".") { text.removeLast() }
        }
        return text + rest
    }

    private static func shown(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let list): list.isEmpty ? "none" : list.map { shown($0["message"] ?? $0) }.joined(separator: ", ")
        default: value.text
        }
    }
}
