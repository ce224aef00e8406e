/// The condition keys of a request and their values. Key names are case-insensitive.
struct PolicyContext: Sendable {
    enum Value: Sendable, Equatable {
        case single(String)
        case many([String])
    }

    private var values: [String: Value] = [:]

    mutating func set(_ key: String, _ value: String) { values[key.lowercased()] = .single(value) }
    /// Sets a key with many values. An empty list removes the key.
    mutating func set(_ key: String, many values: [String]) {
        self.values[key.lowercased()] = values.isEmpty ? nil : .many(values)
    }

    subscript(_ key: String) -> Value? { values[key.lowercased()] }
}
