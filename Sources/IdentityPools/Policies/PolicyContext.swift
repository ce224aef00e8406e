/// The condition keys of a request and their values. Key names are case-insensitive.
struct PolicyContext: Sendable {
    enum Value: Sendable, Equatable {
        case single(String)
        case many([String])
    }

    private var values: [String: Value] = [:]
    /// The claims of a trusted issuer, which are read only if a condition names them.
    var claims: WorkloadClaims?

    mutating func set(_ key: String, _ value: String) { values[key.lowercased()] = .single(value) }
    /// Sets a key with many values. An empty list removes the key.
    mutating func set(_ key: String, many values: [String]) {
        self.values[key.lowercased()] = values.isEmpty ? nil : .many(values)
    }

    subscript(_ key: String) -> Value? {
        let key = key.lowercased()
        return values[key] ?? claims?.value(of: key)
    }

    /// All keys with their values, sorted by key.
    var all: [(key: String, values: [String])] {
        let own = values.map { key, value -> (key: String, values: [String]) in
            switch value {
            case .single(let text): (key, [text])
            case .many(let texts): (key, texts)
            }
        }
        return (own + (claims?.all ?? [])).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
