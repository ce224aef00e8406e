/// What a policy may ask about a request: condition keys and their values (cognito.md 6.4). Key names know no case.
struct PolicyContext: Sendable {
    enum Value: Sendable, Equatable {
        case single(String)
        case many([String])
    }

    private var values: [String: Value] = [:]

    mutating func set(_ key: String, _ value: String) { values[key.lowercased()] = .single(value) }
    /// No values are no key at all.
    mutating func set(_ key: String, many values: [String]) {
        self.values[key.lowercased()] = values.isEmpty ? nil : .many(values)
    }

    subscript(_ key: String) -> Value? { values[key.lowercased()] }
}
