import Contract
import ServiceContext

/// Implements the methods `key.*`.
public struct KeyService: Sendable {
    var context: ServiceContext
    let signingKeys: SigningKeys
    let owners: any KeyOwners

    public init(_ context: ServiceContext, _ signingKeys: SigningKeys, owners: any KeyOwners) {
        self.context = context
        self.signingKeys = signingKeys
        self.owners = owners
    }

    /// The key as methods return it, or `nil` if its last token has expired.
    func answer(_ key: StoredKey, in ring: KeyRing, at now: Int64) -> Contract.SigningKey? {
        guard let state = KeyState(rawValue: ring.state(of: key, at: now).rawValue) else { return nil }
        let retiredAt = ring.retiredAt(key)
        return Contract.SigningKey(
            kid: key.kid, algorithm: SigningAlgorithm(rawValue: key.algorithm.rawValue) ?? .ES256,
            issuer: context.realm.issuer(of: key.owner), poolId: key.owner.poolId, tenantId: key.owner.tenantId, state: state,
            createdAt: key.createdAt,
            activeAt: key.activeAt,
            retiredAt: retiredAt.flatMap { $0 <= now ? $0 : nil }, revokedAt: key.revokedAt,
            publishedUntil: state == .revoked ? nil : retiredAt.map { $0 + KeyRing.longestTokenSeconds })
    }
}

extension KeyService: KeyHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
