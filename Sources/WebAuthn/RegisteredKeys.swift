import Platform

extension CredentialKey {
    private static let recent = RegisteredKeys(limit: 1024)

    /// Returns the key of a registered passkey, whose bytes were checked at the registration. Keys that are used often are parsed once.
    ///
    /// - Throws: The errors of `init(cose:wasChecked:)`.
    public static func registered(_ cose: [UInt8]) throws(PasskeyRefusal) -> CredentialKey { try recent.key(cose) }
}

/// The parsed keys that were used last, found by their bytes.
final class RegisteredKeys: Sendable {
    /// The bytes of a key. Hashing an array takes one step for each byte, hashing its memory one for eight.
    private struct Name: Hashable {
        let bytes: [UInt8]

        func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }

    private struct Generations: Sendable {
        var young: [Name: CredentialKey] = [:]
        /// The keys that were not used since `young` was empty.
        var old: [Name: CredentialKey] = [:]
    }

    private let generations = UnfairLock(Generations())
    private let limit: Int

    /// - Parameter limit: The number of keys after which the ones that were not used are dropped. At most twice as many are kept.
    init(limit: Int) { self.limit = limit }

    /// The number of keys that are kept.
    var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    func key(_ cose: [UInt8]) throws(PasskeyRefusal) -> CredentialKey {
        let name = Name(bytes: cose)
        if let key = generations.withLock({ find(name, in: &$0) }) { return key }
        let key = try CredentialKey(cose: cose, wasChecked: true)
        generations.withLock { keep(key, as: name, in: &$0) }
        return key
    }

    private func find(_ name: Name, in generations: inout Generations) -> CredentialKey? {
        if let key = generations.young[name] { return key }
        guard let key = generations.old.removeValue(forKey: name) else { return nil }
        keep(key, as: name, in: &generations)
        return key
    }

    private func keep(_ key: CredentialKey, as name: Name, in generations: inout Generations) {
        if generations.young.count >= limit {
            generations.old = generations.young
            generations.young = [:]
        }
        generations.young[name] = key
    }
}
