import Accounts
import Contract
import Crypto
import IdentityPools
import ServiceContext
import SigningKeys
import Storage

/// Finds the events that the receiver of a stream must still get, and signs their tokens.
struct EventTokens: Sendable {
    let context: ServiceContext
    let signingKeys: SigningKeys
    let signIn: SignInService

    /// The maximum number of events that one call looks at.
    private static let maximumScan = 5_000

    struct Due {
        /// The oldest events that are not acknowledged.
        var events: [SecurityEventRecord] = []
        /// The position before the first of them.
        var position: Int64
        var hasMore = false
    }

    func next(of stream: EventStreamRecord, limit: Int, in tx: Transaction) throws -> Due {
        let acknowledged = try tx.acknowledged(of: stream)
        var due = Due(position: stream.position)
        var isFirstFound = false
        let events = try tx.events(after: stream.position, limit: Self.maximumScan)
        for event in events {
            guard stream.has(event), !acknowledged.contains(event.position) else {
                if !isFirstFound { due.position = event.position }
                continue
            }
            isFirstFound = true
            if due.events.count == limit {
                due.hasMore = true
                return due
            }
            due.events.append(event)
        }
        due.hasMore = events.count == Self.maximumScan
        return due
    }

    /// Returns the tokens of events, with their IDs.
    ///
    /// - Throws: `TenantNotFound`, `PoolNotFound`.
    func sign(_ events: [SecurityEventRecord], of stream: EventStreamRecord, at now: Int64) throws -> [(id: String, token: String)] {
        let signer = JWSSigner(try signingKey(of: stream.owner, at: now).privateKey, type: SecurityEventToken.type)
        return try events.compactMap { event in
            guard let claims = SecurityEventToken.claims(event, to: stream, in: context.realm) else { return nil }
            return (event.id, try signer.sign(claims))
        }
    }

    /// Returns the key that signs the tokens of a stream. Creates the first key of the default tenant.
    private func signingKey(of owner: KeyOwner, at now: Int64) throws -> StoredKey {
        if case .tenant(let id) = owner {
            guard let tenant = try context.database.read({ try $0.tenant(id) }) else { throw TenantNotFound(tenantId: id) }
            _ = try signIn.publishedKeys(of: tenant)
        }
        guard let key = try context.database.read({ try signingKeys.ring(of: owner, in: $0) }).active(at: now) else {
            throw owner.poolId.map { PoolNotFound(poolId: $0) } ?? TenantNotFound(tenantId: owner.tenantId ?? "")
        }
        return key
    }
}
