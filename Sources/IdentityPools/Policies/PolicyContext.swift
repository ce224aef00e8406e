/// The condition keys of a request and their values. Key names are case-insensitive.
struct PolicyContext: Sendable {
    enum Value: Sendable, Equatable {
        case single(String)
        case many([String])
    }

    private static let currentTime = "aws:currenttime"
    private static let epochTime = "aws:epochtime"

    private var values: [String: Value] = [:]
    /// The time of the request, which is formatted only if a condition names it.
    private let now: Int64?
    /// The claims of a trusted issuer, which are read only if a condition names them.
    var claims: WorkloadClaims?

    init(at now: Int64? = nil) { self.now = now }

    mutating func set(_ key: String, _ value: String) { values[key.lowercased()] = .single(value) }
    /// Sets a key with many values. An empty list removes the key.
    mutating func set(_ key: String, many values: [String]) {
        self.values[key.lowercased()] = values.isEmpty ? nil : .many(values)
    }

    subscript(_ key: String) -> Value? { self[lowercase: key.lowercased()] }

    subscript(lowercase key: String) -> Value? {
        if let value = values[key] { return value }
        if let now, let time = Self.time(key, now) { return .single(time) }
        return claims?.value(of: key)
    }

    private static func time(_ key: String, _ now: Int64) -> String? {
        switch key {
        case currentTime: PolicyDate.text(now)
        case epochTime: String(now)
        default: nil
        }
    }

    /// All keys with their values, sorted by key.
    var all: [(key: String, values: [String])] {
        let own = values.map { key, value -> (key: String, values: [String]) in
            switch value {
            case .single(let text): (key, [text])
            case .many(let texts): (key, texts)
            }
        }
        let times = now.map { now in [Self.currentTime, Self.epochTime].map { (key: $0, values: [Self.time($0, now) ?? ""]) } }
        return (own + (times ?? []) + (claims?.all ?? [])).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
