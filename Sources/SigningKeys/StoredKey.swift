import Contract
import Crypto
import JSON
import ServiceContext

/// A signing key with its validity times. A class, because every token operation passes it on.
package final class StoredKey: Sendable {
    package let kid: String
    package let owner: KeyOwner
    package let algorithm: Crypto.SigningAlgorithm
    let createdAt: Int64
    /// The time at which the key becomes active. It is published before, so that verifiers have it by then.
    let activeAt: Int64
    /// The time at which the key was revoked. All its signatures are rejected from this time.
    let revokedAt: Int64?
    /// The number of the key among those of its owner, in order of creation. If two keys become active in the same second, the later one
    /// signs.
    let position: Int64
    package let privateKey: PrivateKey
    /// Signs the tokens of a pool, or the ID tokens of a tenant.
    package let signer: JWSSigner
    /// Signs the access tokens of a tenant.
    package let accessSigner: JWSSigner

    init(
        kid: String, owner: KeyOwner, algorithm: Crypto.SigningAlgorithm, createdAt: Int64, activeAt: Int64, revokedAt: Int64?,
        position: Int64, privateKey: PrivateKey
    ) {
        self.kid = kid
        self.owner = owner
        self.algorithm = algorithm
        self.createdAt = createdAt
        self.activeAt = activeAt
        self.revokedAt = revokedAt
        self.position = position
        self.privateKey = privateKey
        signer = JWSSigner(privateKey, type: owner.poolId == nil ? TokenType.id : TokenType.pool)
        accessSigner = JWSSigner(privateKey, type: TokenType.access)
    }
}

/// The keys of one owner and their states at a given time: next, active, retired, gone (Sources/SigningKeys/README.md, "Key life cycle").
package struct KeyRing: Sendable {
    /// The keys, ordered by the time at which they become active.
    package let keys: [StoredKey]

    /// The maximum lifetime of tokens of pools (`TokenDuration` in Amazon Cognito) and tenants, in seconds.
    package static let longestTokenSeconds: Int64 = 86_400

    /// The maximum lifetime of session cookies, in seconds. The key that signed one is kept for this time, unpublished.
    package static let longestCookieSeconds: Int64 = 1_209_600

    package enum State: String, Sendable { case next, active, retired, revoked, gone }

    package init(_ keys: [StoredKey]) { self.keys = keys.sorted { ($0.activeAt, $0.position) < ($1.activeAt, $1.position) } }

    /// Returns the active key at `now`: the one that became active last. If the clock was set back before all of them, returns the first
    /// key.
    package func active(at now: Int64) -> StoredKey? { activeIndex(at: now).map { keys[$0] } }

    /// Returns the active key of an algorithm, for an account.
    package func active(_ algorithm: Crypto.SigningAlgorithm, at now: Int64) -> StoredKey? {
        KeyRing(keys.filter { $0.algorithm == algorithm }).active(at: now)
    }

    /// Returns the keys that follow each other: all keys of a pool or tenant, those of one algorithm of an account.
    func succession(of key: StoredKey) -> KeyRing {
        key.owner.isAccount ? KeyRing(keys.filter { $0.algorithm == key.algorithm }) : self
    }

    /// Returns the index of the active key in `keys`.
    package func activeIndex(at now: Int64) -> Int? {
        keys.lastIndex { $0.revokedAt == nil && $0.activeAt <= now } ?? keys.firstIndex { $0.revokedAt == nil }
    }

    /// Returns the time at which the key stopped or will stop signing, or `nil` if no later key exists.
    func retiredAt(_ key: StoredKey) -> Int64? {
        succession(of: key).keys.first { $0.revokedAt == nil && ($0.activeAt, $0.position) > (key.activeAt, key.position) }?.activeAt
    }

    package func state(of key: StoredKey, at now: Int64) -> State {
        if key.revokedAt != nil { return .revoked }
        if key.kid == succession(of: key).active(at: now)?.kid { return .active }
        guard let retired = retiredAt(key), retired <= now else { return .next }
        return retired + Self.longestTokenSeconds <= now ? .gone : .retired
    }

    /// Returns the keys for verifiers: all keys except revoked ones and those whose last token has expired.
    package func published(at now: Int64) -> [StoredKey] {
        keys.filter { ![.revoked, .gone].contains(state(of: $0, at: now)) }
    }

    /// Returns the next time at which a key becomes active or is no longer published.
    package func nextChange(after now: Int64) -> Int64? {
        keys.filter { $0.revokedAt == nil }.flatMap { key in
            [key.activeAt, retiredAt(key).map { $0 + Self.longestTokenSeconds }].compactMap { $0 }
        }.filter { $0 > now }.min()
    }
}

extension StoredKey {
    /// The public key as RFC 7517 writes it.
    package var publicJwk: JsonWebKey {
        var writer = JSONWriter()
        privateKey.jwk.write(to: &writer)
        let json = try? JSONText(writer.bytes).root
        func member(_ name: String) -> String? { json?[name]?.string }
        return JsonWebKey(
            kty: member("kty") ?? "", use: "sig", alg: algorithm.rawValue, kid: kid, crv: member("crv"), x: member("x"), y: member("y"),
            n: member("n"), e: member("e"))
    }
}
