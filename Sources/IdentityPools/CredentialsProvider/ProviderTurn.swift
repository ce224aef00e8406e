import Contract
import Platform
import ServiceContext
import Storage

/// A call that can refresh a provider.
struct ProviderTurn: Sendable {
    let settings: OpenProvider.Settings
    let handle: String
    let call: any CallContext
    /// The method name for the audit log.
    let method: String
    let now: Int64
    private let begun: OpenProvider.Turn

    init(_ provider: OpenProvider, _ begun: OpenProvider.Turn, _ call: any CallContext, _ method: MethodInfo, now: Int64) {
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
    func take(_ request: ProviderRule.Request, _ memory: inout ProviderMemory, _ turn: ProviderTurn) throws -> CredentialsProviderAnswer {
        let (facts, kept) = try facts(memory, turn)
        switch ProviderRule.step(request, memory, facts) {
        case .answer(let held): return CredentialsProviderAnswer(held)
        case .tell(let id):
            try adopt(id, &memory, keptBefore: id, turn)
            return CredentialsProviderAnswer(state: .ready, identityId: id)
        case .ask(let reason):
            tell(kept?.id, &memory, turn)
            memory.ask(reason, continuationToken: newContinuationToken(turn))
            return CredentialsProviderAnswer(asking: memory)!
        case .refresh(let source):
            let seeker = IdentitySeeker(service: self, source: source, logins: memory.logins, turn: turn, kept: kept)
            if request == .identityId {
                let id = try seeker.seek { try $0.identify($1) }
                try adopt(id, &memory, keptBefore: kept?.id, turn)
                return CredentialsProviderAnswer(state: .ready, identityId: id)
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
    private func facts(_ memory: ProviderMemory, _ turn: ProviderTurn) throws -> (ProviderRule.Facts, kept: Identity?) {
        let settings = turn.settings
        let (pool, kept) = try surroundings.database.read { tx in
            (try catalogue.pool(settings.key.poolId, in: tx), try tx.keptIdentity(settings.key))
        }
        let phase = ProviderRule.phase(memory, now: turn.now, refreshAheadSeconds: settings.refreshAheadSeconds)
        let facts = ProviderRule.Facts(
            phase: phase, kept: kept?.id, developerProvider: pool.developerProvider, asksCaller: settings.asksCaller)
        return (facts, kept)
    }

    func kept(_ turn: ProviderTurn) throws -> Identity? { try surroundings.database.read { try $0.keptIdentity(turn.settings.key) } }

    /// Returns a new token: the provider's handle, a dot and an unguessable part.
    private func newContinuationToken(_ turn: ProviderTurn) -> String {
        "\(turn.handle).\(Base64URL.encode(surroundings.random.bytes(24)))"
    }

    /// Stores the resolved identity, and notifies the caller if it has changed.
    func adopt(_ id: String, _ memory: inout ProviderMemory, keptBefore: String?, _ turn: ProviderTurn) throws {
        let key = turn.settings.key
        try turn.requireCurrent()
        if id != keptBefore, try kept(turn)?.id != id {
            try surroundings.database.write { tx in
                try turn.requireCurrent(in: tx)
                try tx.keep(id, as: key, at: turn.now)
                try recordKeeping(of: id, turn, tx)
            }
        }
        if let before = memory.identify(id) { notify(from: before, to: id, turn) }
    }

    /// Writes an audit record for the stored identity.
    func recordKeeping(of id: String, _ turn: ProviderTurn, _ tx: Transaction) throws {
        try surroundings.audit.record(
            AuditEvent(method: turn.method, trace: turn.call.trace, poolId: turn.settings.key.poolId, identityId: id), at: turn.now, in: tx)
    }

    /// Notifies the caller if another process has stored another identity under the same key.
    private func tell(_ kept: String?, _ memory: inout ProviderMemory, _ turn: ProviderTurn) {
        guard memory.identityId != kept else { return }
        if let before = memory.identityId, let kept { notify(from: before, to: kept, turn) }
        memory.identityId = kept
    }

    private func notify(from before: String, to id: String, _ turn: ProviderTurn) {
        turn.call.notify(
            CredentialsProviderIdentityChanged.self, IdentityChange(provider: turn.handle, oldIdentityId: before, newIdentityId: id))
    }
}
