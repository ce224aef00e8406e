import Contract
import Platform
import ServiceContext
import Storage

/// A call that can refresh a provider.
struct CredentialsRefresh: Sendable {
    let settings: CredentialsProviderSession.Settings
    let handle: String
    let call: any CallContext
    /// The method name for the audit log.
    let method: String
    let now: Int64
    private let begun: CredentialsProviderSession.Turn

    init(
        of provider: CredentialsProviderSession, _ begun: CredentialsProviderSession.Turn, _ call: any CallContext,
        by method: MethodInfo, now: Int64
    ) {
        self.begun = begun
        settings = provider.settings
        handle = provider.handle
        self.call = call
        self.method = method.name
        self.now = now
    }

    /// Checks that there was no change of the provider since the start.
    ///
    /// - Throws: `ProviderOvertaken`.
    func requireCurrent() throws { try begun.requireCurrent() }

    /// Performs the same check under the lock of the stored identity, so that an identity is not stored after the provider was cleared.
    func requireCurrent(in tx: Transaction) throws {
        try tx.lock([settings.key.lockName])
        try requireCurrent()
    }
}

extension CredentialsProviderService {
    /// Performs the step that `ProviderRule` returns.
    func take(_ request: ProviderRule.Request, _ memory: inout CachedCredentials, _ turn: CredentialsRefresh) throws
        -> CredentialsProviderAnswer
    {
        let (facts, kept) = try facts(memory, turn)
        switch ProviderRule.step(request, memory, facts) {
        case .answer(let held): return CredentialsProviderAnswer(held)
        case .tell(let id):
            try adopt(id, &memory, keptBefore: id, turn)
            return .ready(.init(identityId: id))
        case .ask(let reason):
            tell(kept?.id, &memory, turn)
            memory.ask(reason, continuationToken: newContinuationToken(turn))
            return CredentialsProviderAnswer(asking: memory)!
        case .refresh(let source):
            let seeker = IdentityResolver(service: self, source: source, logins: memory.logins, turn: turn, kept: kept)
            if request == .identityId {
                let id = try seeker.seek { try $0.identify($1) }
                try adopt(id, &memory, keptBefore: kept?.id, turn)
                return .ready(.init(identityId: id))
            }
            memory.dropCredentials()
            let user = try seeker.seek { try $0.prove($1) }
            try adopt(user.identityId, &memory, keptBefore: kept?.id, turn)
            let held = try exchange(user, turn)
            memory.hold(held)
            return CredentialsProviderAnswer(held)
        }
    }

    /// Returns the relevant state of the store.
    private func facts(_ memory: CachedCredentials, _ turn: CredentialsRefresh) throws -> (ProviderRule.Facts, kept: Identity?) {
        let settings = turn.settings
        let (pool, kept) = try context.database.read { tx in
            (try configurations.pool(settings.key.poolId, in: tx), try tx.keptIdentity(settings.key))
        }
        let phase = ProviderRule.phase(memory, now: turn.now, refreshAheadSeconds: settings.refreshAheadSeconds)
        let facts = ProviderRule.Facts(
            phase: phase, kept: kept?.id, developerProvider: pool.developerProvider, asksCaller: settings.asksCaller)
        return (facts, kept)
    }

    func kept(_ turn: CredentialsRefresh) throws -> Identity? { try context.database.read { try $0.keptIdentity(turn.settings.key) } }

    /// Returns a new token: the provider's handle, a dot and an unguessable part.
    private func newContinuationToken(_ turn: CredentialsRefresh) -> String {
        "\(turn.handle).\(Base64URL.encode(context.random.bytes(24)))"
    }

    /// Stores the resolved identity, and notifies the caller if it has changed.
    func adopt(_ id: String, _ memory: inout CachedCredentials, keptBefore: String?, _ turn: CredentialsRefresh) throws {
        let key = turn.settings.key
        try turn.requireCurrent()
        if id != keptBefore, try kept(turn)?.id != id {
            try context.database.write { tx in
                try turn.requireCurrent(in: tx)
                try tx.keep(id, as: key, at: turn.now)
                try recordKeeping(of: id, turn, tx)
            }
        }
        if let before = memory.identify(id) { notify(from: before, to: id, turn) }
    }

    /// Writes an audit record for the stored identity.
    func recordKeeping(of id: String, _ turn: CredentialsRefresh, _ tx: Transaction) throws {
        try context.audit.record(
            AuditEvent(method: turn.method, by: turn.call, poolId: turn.settings.key.poolId).about(identityId: id), at: turn.now, in: tx)
    }

    /// Notifies the caller if another process has stored another identity under the same key.
    private func tell(_ kept: String?, _ memory: inout CachedCredentials, _ turn: CredentialsRefresh) {
        guard memory.identityId != kept else { return }
        if let before = memory.identityId, let kept { notify(from: before, to: kept, turn) }
        memory.identityId = kept
    }

    private func notify(from before: String, to id: String, _ turn: CredentialsRefresh) {
        turn.call.notify(
            CredentialsProviderIdentityChanged.self, IdentityChange(provider: turn.handle, oldIdentityId: before, newIdentityId: id))
    }
}
