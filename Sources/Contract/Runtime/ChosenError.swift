import JSON
import Platform

/// A contract error that is selected at run time, for fault injection in tests.
public struct ChosenError: Error, Sendable {
    public let code: Int
    public let type: String
    public let message: String
    /// The error data without the member `type`.
    public let data: JSONObject

    /// - Parameters:
    ///   - type: The error type.
    ///   - given: The members of the error data. Missing required members get placeholder values.
    ///   - pointer: The JSON pointers to `type` and `data` in the params.
    ///   - now: The base of placeholder times, in seconds since 1970-01-01 UTC.
    /// - Throws: `InvalidParams` if the type or the data is not valid.
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
        // An injected internal error has no log entry, so its message must not refer to one.
        let isMadeUp = type == InternalError.type && given.isEmpty
        message =
            isMadeUp
            ? "Mintmark failed because test.fault injected this error. There is no log entry and nothing to report."
            : Self.message(entry["message"]?.string ?? "", data)
    }

    /// Inserts the members into a message template. A part in brackets is included only if its member is present, and not empty if it is a list.
    static func message(_ template: String, _ data: JSONObject) -> String {
        var text = ""
        for (index, part) in template.split(separator: "[", omittingEmptySubsequences: false).enumerated() {
            guard index > 0, let end = part.firstIndex(of: "]") else {
                text += filled(part, data, isOptional: false) ?? ""
                continue
            }
            text += filled(part[..<end], data, isOptional: true) ?? ""
            text += filled(part[part.index(after: end)...], data, isOptional: false) ?? ""
        }
        return text
    }

    /// Returns `nil` if one of its members is missing. In an optional part, an empty list counts as missing.
    private static func filled(_ part: Substring, _ data: JSONObject, isOptional: Bool) -> String? {
        var (text, rest) = ("", part)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            guard let value = data[String(rest[rest.index(after: open)..<close])] else { return nil }
            if isOptional, value.array?.isEmpty == true { return nil }
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
