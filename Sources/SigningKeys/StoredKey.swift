import Contract
import Crypto
import JSON
import ServiceContext

/// A key that tokens are signed with, and when. A class: it is handed around with every token.
package final class StoredKey: Sendable {
    package let kid: String
    package let owner: KeyOwner
    package let algorithm: Crypto.SigningAlgorithm
    let createdAt: Int64
    /// From when on it signs. Published before, so that verifiers know it by then.
    let activeAt: Int64
    /// Nobody may trust it from then on, whatever it signed.
    let revokedAt: Int64?
    /// Its owner's keys are counted as they are made; of two that become active in one second the later one signs.
    let position: Int64
    package let privateKey: PrivateKey
    /// Signs a pool's tokens, or a tenant's ID tokens.
    package let signer: JWSSigner
    /// Signs a tenant's access tokens.
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

/// The keys of one owner and what they are for at a moment. Next → active → retired → gone.
package struct KeyRing: Sendable {
    /// Ordered by when they become active.
    package let keys: [StoredKey]

    /// The longest that a token of a pool lives (cognito.md 1.1, TokenDuration), and a tenant's.
    package static let longestTokenSeconds: Int64 = 86_400

    package enum State: String, Sendable { case next, active, retired, revoked, gone }

    package init(_ keys: [StoredKey]) { self.keys = keys.sorted { ($0.activeAt, $0.position) < ($1.activeAt, $1.position) } }

    /// The key that signs at `now`: the one that became active last. A clock that was set back finds the first.
    package func active(at now: Int64) -> StoredKey? { activeIndex(at: now).map { keys[$0] } }

    /// Where that key stands among `keys`.
    package func activeIndex(at now: Int64) -> Int? {
        keys.lastIndex { $0.revokedAt == nil && $0.activeAt <= now } ?? keys.firstIndex { $0.revokedAt == nil }
    }

    /// When the key stopped signing, nil while it has not.
    func retiredAt(_ key: StoredKey) -> Int64? {
        keys.first { $0.revokedAt == nil && ($0.activeAt, $0.position) > (key.activeAt, key.position) }?.activeAt
    }

    package func state(of key: StoredKey, at now: Int64) -> State {
        if key.revokedAt != nil { return .revoked }
        if key.kid == active(at: now)?.kid { return .active }
        guard let retired = retiredAt(key), retired <= now else { return .next }
        return retired + Self.longestTokenSeconds <= now ? .gone : .retired
    }

    /// The keys that verifiers should know: all but revoked ones and those whose last token has expired.
    package func published(at now: Int64) -> [StoredKey] {
        keys.filter { ![.revoked, .gone].contains(state(of: $0, at: now)) }
    }

    /// The next moment at which a key becomes active or is no longer published.
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
