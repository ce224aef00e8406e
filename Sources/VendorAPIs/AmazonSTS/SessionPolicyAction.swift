import Contract
import JSON

/// Whether a session policy lets its session call an operation of this process. A session can do only what its policy allows, and the
/// policy of guests allows no operation of AWS STS.
enum SessionPolicyAction {
    /// - Parameter action: The action in lowercase, such as `sts:getwebidentitytoken`.
    static func allows(_ action: String, _ policy: EncodedObject?) -> Bool {
        guard let policy else { return true }
        guard let document = try? JSONValue(parsing: policy.bytes) else { return false }
        var isAllowed = false
        for statement in document["Statement"]?.array ?? [document["Statement"]].compactMap({ $0 }) {
            guard concerns(statement, action) else { continue }
            if statement["Effect"]?.string != "Allow" { return false }
            // The values of condition keys are not known here, so that a condition is not taken as satisfied.
            let isForAll = texts(statement["Resource"]).contains("*")
            if isForAll, statement["Condition"] == nil { isAllowed = true }
        }
        return isAllowed
    }

    private static func concerns(_ statement: JSONValue, _ action: String) -> Bool {
        if let others = statement["NotAction"] { return !texts(others).contains { matches(action, $0) } }
        return texts(statement["Action"]).contains { matches(action, $0) }
    }

    private static func texts(_ value: JSONValue?) -> [String] { value?.string.map { [$0] } ?? (value?.array ?? []).compactMap(\.string) }

    /// Whether an action matches a pattern with `*` and `?`, without regard to case.
    static func matches(_ action: String, _ pattern: String) -> Bool {
        let (text, pattern) = (Array(action.lowercased().utf8), Array(pattern.lowercased().utf8))
        var (place, at, star, mark) = (0, 0, -1, 0)
        while place < text.count {
            if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
                (star, mark) = (at, place)
                at += 1
            } else if at < pattern.count, pattern[at] == text[place] || pattern[at] == UInt8(ascii: "?") {
                place += 1
                at += 1
            } else if star >= 0 {
                mark += 1
                (at, place) = (star + 1, mark)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
