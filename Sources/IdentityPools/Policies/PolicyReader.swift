import Contract
import JSON

/// Parses policies strictly. Unknown elements are rejected with their location.
package struct PolicyReader {
    let version: Version

    enum Version: String { case v2012 = "2012-10-17", v2008 = "2008-10-17" }

    /// - Throws: `PolicyMalformed`.
    static func read(_ text: String) throws -> (root: JSONObject, reader: PolicyReader) {
        let value: JSONValue
        do { value = try JSONValue(parsing: text) } catch { throw PolicyMalformed(pointer: "", reason: "it is not JSON: \(error)") }
        guard let root = value.object else { throw PolicyMalformed(pointer: "", reason: "a policy must be a JSON object") }
        for name in root.names where !["Version", "Id", "Statement"].contains(name) {
            throw PolicyMalformed(pointer: pointer([name]), reason: "a policy can contain only Version, Id and Statement")
        }
        guard let given = root["Version"] else { return (root, PolicyReader(version: .v2008)) }
        guard let version = given.string.flatMap({ Version(rawValue: $0) }) else {
            throw PolicyMalformed(pointer: "/Version", reason: "the version must be 2012-10-17 or 2008-10-17")
        }
        return (root, PolicyReader(version: version))
    }

    /// Returns the statements with their pointers.
    func statements(_ root: JSONObject, allowing names: Set<String>) throws -> [(pointer: String, object: JSONObject)] {
        guard let given = root["Statement"] else { throw PolicyMalformed(pointer: "", reason: "Statement is missing") }
        let listed = given.array ?? [given]
        if listed.isEmpty { throw PolicyMalformed(pointer: "/Statement", reason: "at least one statement is required") }
        var sids: Set<String> = []
        return try listed.enumerated().map { index, value in
            let pointer = given.array == nil ? "/Statement" : "/Statement/\(index)"
            guard let object = value.object else { throw PolicyMalformed(pointer: pointer, reason: "a statement must be a JSON object") }
            for name in object.names where !names.contains(name) {
                throw PolicyMalformed(
                    pointer: pointer + Self.pointer([name]), reason: "a statement of this policy cannot contain this element")
            }
            if let sid = object["Sid"] {
                guard let sid = sid.string else { throw PolicyMalformed(pointer: pointer + "/Sid", reason: "Sid must be a string") }
                guard sids.insert(sid).inserted else {
                    throw PolicyMalformed(pointer: pointer + "/Sid", reason: "another statement has this Sid")
                }
            }
            return (pointer, object)
        }
    }

    func allows(_ statement: JSONObject, _ pointer: String) throws -> Bool {
        switch statement["Effect"]?.string {
        case "Allow": return true
        case "Deny": return false
        default: throw PolicyMalformed(pointer: pointer + "/Effect", reason: "the effect must be Allow or Deny")
        }
    }

    /// Parses a string or a non-empty list of strings.
    func strings(_ value: JSONValue, _ pointer: String) throws -> [String] {
        let listed = value.array ?? [value]
        let strings = listed.compactMap(\.string)
        guard !strings.isEmpty, strings.count == listed.count else {
            throw PolicyMalformed(pointer: pointer, reason: "a string or a list of strings is required")
        }
        return strings
    }

    /// Parses the values of a condition. Booleans and numbers are converted to text.
    private func operands(_ value: JSONValue, _ pointer: String) throws -> [String] {
        let listed = value.array ?? [value]
        return try strings(
            .array(
                listed.map { item in
                    if let bool = item.bool { return .string(bool ? "true" : "false") }
                    return item.number.map { .string($0.text) } ?? item
                }), pointer)
    }

    /// Parses actions: `service:Action` or `*`, with wildcards. Actions are case-insensitive.
    func actions(_ value: JSONValue, _ pointer: String) throws -> [PolicyText] {
        try strings(value, pointer).map { action in
            let parts = action.split(separator: ":", omittingEmptySubsequences: false)
            let isPlain = parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 || "-_*?".utf8.contains($0) }
            }
            guard action == "*" || parts.count == 2 && isPlain else {
                throw PolicyMalformed(pointer: pointer, reason: "\"\(action)\" is not an action such as sts:AssumeRoleWithWebIdentity")
            }
            return try PolicyText(action, wildcards: true, variables: false, pointer)
        }
    }

    func conditions(_ statement: JSONObject, _ pointer: String) throws -> [PolicyCondition] {
        guard let given = statement["Condition"] else { return [] }
        guard let operators = given.object else {
            throw PolicyMalformed(pointer: pointer + "/Condition", reason: "Condition must be an object of operators")
        }
        return try operators.members.flatMap { name, keys in
            let place = pointer + "/Condition" + Self.pointer([name])
            guard let keys = keys.object, !keys.isEmpty else {
                throw PolicyMalformed(pointer: place, reason: "an operator must contain an object of condition keys")
            }
            return try keys.members.map { key, value in
                try condition(name, of: key, try operands(value, place + Self.pointer([key])), at: place)
            }
        }
    }

    private func condition(_ name: String, of key: String, _ values: [String], at pointer: String) throws -> PolicyCondition {
        var rest = name[...]
        var quantifier: PolicyCondition.Quantifier?
        if let colon = rest.firstIndex(of: ":") {
            quantifier = PolicyCondition.Quantifier(rawValue: String(rest[..<colon]))
            guard quantifier != nil else {
                throw PolicyMalformed(pointer: pointer, reason: "the set operators are ForAnyValue: and ForAllValues:")
            }
            rest = rest[rest.index(after: colon)...]
        }
        let ifExists = rest.hasSuffix("IfExists") && rest != "IfExists"
        if ifExists { rest = rest.dropLast(8) }
        guard let op = PolicyOperator(rawValue: String(rest)) else {
            let known = PolicyOperator.allCases.map(\.rawValue).joined(separator: ", ")
            throw PolicyMalformed(pointer: pointer, reason: "unknown condition operator \(name); supported are \(known)")
        }
        if op == .null {
            guard quantifier == nil, !ifExists, values.count == 1 else {
                throw PolicyMalformed(pointer: pointer, reason: "Null requires one value and allows neither a set operator nor IfExists")
            }
        }
        guard !key.isEmpty else { throw PolicyMalformed(pointer: pointer + "/", reason: "a condition key must have a name") }
        let operands = try values.map {
            try PolicyOperand($0, for: op, variables: op.hasVariables && version == .v2012, pointer + Self.pointer([key]))
        }
        return PolicyCondition(
            op: op, quantifier: quantifier, ifExists: ifExists, key: key, lowercaseKey: key.lowercased(), values: operands,
            mustBeMissing: op == .null && operands == [.truth(true)])
    }

    /// Returns a JSON Pointer (RFC 6901).
    package static func pointer(_ steps: [String]) -> String {
        steps.map { "/" + JSONPointer.escaped($0) }.joined()
    }
}
