import ServiceContext
import Storage

extension IdentityResolution.Facts {
    /// Reads the state on which the decision about `logins` is based.
    init(
        _ tx: Transaction, pool: PoolRecord, given: String?, logins: [Login], developerLogin: Login? = nil
    ) throws {
        let owners = try logins.map { try tx.identity(owning: $0, in: pool.id) }
        if given == nil, owners.count == 1, owners[0] != nil {
            self.init(
                poolId: pool.id, allowsGuests: pool.allowUnauthenticated, given: .absent, logins: logins, developerLogin: developerLogin,
                developerProvider: pool.developerProvider, owners: owners, participants: [])
            return
        }
        var ids: [String] = []
        for case let owner? in owners where !ids.contains(owner) { ids.append(owner) }
        let found = try given.map { id in try tx.identity(id).flatMap { $0.poolId == pool.id ? Given.found(id) : nil } ?? .notFound(id) }
        if case .found(let id)? = found, !ids.contains(id) { ids.append(id) }
        // The most frequent case, a returning user, requires no further reads.
        let isSettled = given == nil && ids.count == 1 && !owners.contains(nil)
        self.init(
            poolId: pool.id, allowsGuests: pool.allowUnauthenticated, given: found ?? .absent, logins: logins,
            developerLogin: developerLogin, developerProvider: pool.developerProvider, owners: owners,
            participants: isSettled ? [] : try ids.map { try tx.participant($0) })
    }
}

/// The result of a resolution.
struct ResolvedIdentity: Sendable {
    let id: String
    var isNew = false
    /// The IDs of identities that were merged into this one.
    var absorbed: [String] = []
    var linked: [String] = []
    var changed: Bool { isNew || !absorbed.isEmpty || !linked.isEmpty }
}

/// Thrown by a write that has to merge identities. A merge depends on more rows than unique keys protect, so it requires serializable
/// isolation.
private struct RequiresSerializable: Error {}

extension Transaction {
    fileprivate func participant(_ id: String) throws -> IdentityResolution.Participant {
        guard let identity = try identity(id) else { throw SerializationConflict() }
        return IdentityResolution.Participant(identity: identity, logins: try logins(of: id))
    }

    /// Applies a decision.
    ///
    /// - Parameter newId: The ID of an identity that is created.
    /// - Throws: `SerializationConflict` if another transaction has linked a login in the meantime.
    func apply(_ decision: IdentityResolution.Decision, in poolId: String, newId: String, at now: Int64) throws -> ResolvedIdentity {
        switch decision {
        case .keep(let id): return ResolvedIdentity(id: id)
        case .create(let logins):
            try insert(
                Identity(id: newId, poolId: poolId, state: logins.isEmpty ? .guest : .authenticated, createdAt: now, updatedAt: now))
            try link(logins, to: newId, in: poolId, at: now)
            return ResolvedIdentity(id: newId, isNew: true)
        case .join(let join):
            for child in join.absorbing { try absorb(child.id, into: join.parent.id, at: now) }
            try link(join.linking, to: join.parent.id, in: poolId, at: now)
            try setState(.authenticated, of: join.parent.id, at: now)
            return ResolvedIdentity(id: join.parent.id, absorbed: join.absorbing.map(\.id), linked: join.linking.map(\.provider))
        }
    }

    /// Moves the logins of `child` to `parent` and disables `child`.
    func absorb(_ child: String, into parent: String, at now: Int64) throws {
        try execute("UPDATE login SET identity_id = $2 WHERE identity_id = $1", child, parent)
        try setState(.disabled, of: child, at: now)
    }

    private func link(_ logins: [Login], to identityId: String, in poolId: String, at now: Int64) throws {
        for login in logins where !(try link(login, to: identityId, in: poolId, at: now)) { throw SerializationConflict() }
    }
}

extension ServiceContext {
    /// Resolves the identity to which the logins of a call belong. The decision is first made in a read transaction. If something must
    /// change, a write transaction decides again.
    ///
    /// - Parameters:
    ///   - event: The audit event. It is recorded if something changes, or if `recordsKept` is `true`.
    ///   - gather: Reads the state for the decision and further values for the caller.
    ///   - complete: Completes the call in the same transaction. If it throws, nothing is changed.
    /// - Returns: `nil` if something must change and the thread of the call must not wait. The rest of the call then resolves the identity
    ///   after `Wait.write`.
    /// - Throws: The errors of `gather`, `IdentityResolution.decide` and `complete`.
    func resolve<Context, Outcome>(
        _ event: @autoclosure () -> AuditEvent, recordsKept: Bool = false, at now: Int64,
        gather: (Transaction) throws -> (context: Context, facts: IdentityResolution.Facts),
        complete: (Transaction, Context, ResolvedIdentity) throws -> Outcome
    ) throws -> (outcome: Outcome, identity: ResolvedIdentity)? {
        if !database.access.decidesInWrite {
            let kept = try database.read { tx -> (Outcome, ResolvedIdentity)? in
                let (context, facts) = try gather(tx)
                guard case .keep(let id) = try IdentityResolution.decide(facts), !recordsKept else { return nil }
                let identity = ResolvedIdentity(id: id)
                return (try complete(tx, context, identity), identity)
            }
            if let kept { return kept }
            guard database.access.mayWait else { return nil }
        }
        let newId = newIdentityId(at: now)
        func write(_ isolation: Isolation) throws -> (outcome: Outcome, identity: ResolvedIdentity) {
            try database.write(isolation: isolation) { tx in
                let (context, facts) = try gather(tx)
                let decision = try IdentityResolution.decide(facts)
                if case .join = decision, isolation != .serializable { throw RequiresSerializable() }
                let identity = try tx.apply(decision, in: facts.poolId, newId: newId, at: now)
                let outcome = try complete(tx, context, identity)
                if identity.changed || recordsKept { try audit.record(event().naming(identity), at: now, in: tx) }
                return (outcome, identity)
            }
        }
        do { return try write(.readCommitted) } catch is RequiresSerializable { return try write(.serializable) }
    }
}

extension AuditEvent {
    fileprivate func naming(_ identity: ResolvedIdentity) -> AuditEvent {
        var event = self
        event.identityId = identity.id
        if identity.changed { event.details["isNewIdentity"] = .bool(identity.isNew) }
        if !identity.absorbed.isEmpty { event.details["merged"] = .array(identity.absorbed.map { .string($0) }) }
        if !identity.linked.isEmpty { event.details["linked"] = .array(identity.linked.map { .string($0) }) }
        return event
    }
}
