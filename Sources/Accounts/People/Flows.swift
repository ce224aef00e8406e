import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// What all flows have in common: how a continuation token finds its flow, and how a step carries it on (native-auth.md 1.9, 2.0).
struct Flows: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache
    private let tokens: ContinuationTokens
    private let requestKey: SecretBytes

    init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        tokens = ContinuationTokens(surroundings)
        requestKey = surroundings.vault.subkey("repeated request")
    }

    /// A flow that a token was found to belong to.
    enum Found {
        case current(Flow, TenantRecord)
        /// The token is of the step before, and so is the request: its answer is to be given once more.
        case repeated(Flow, TenantRecord)

        var flow: Flow {
            switch self {
            case .current(let flow, _), .repeated(let flow, _): flow
            }
        }
        var tenant: TenantRecord {
            switch self {
            case .current(_, let tenant), .repeated(_, let tenant): tenant
            }
        }
    }

    /// What a step came to.
    enum Step {
        case moved
        /// It is over, and what it was for is done: the answer carries tokens, and is never given again.
        case finished
        /// It stays where it is, and what was counted is kept.
        case refused(any ContractError)
        /// It is over.
        case ended(any ContractError)
    }

    /// What makes a request recognisable when it comes again: an HMAC of all that is in it.
    func fingerprint(_ method: String, _ parts: [JSONValue]) -> [UInt8] {
        HMAC.sha256(key: requestKey, JSONValue.array([.string(method)] + parts).bytes)
    }

    func newFlow(
        _ kind: Flow.Kind, _ stage: Flow.Stage, _ username: Username, of accountId: String, in tenant: TenantRecord, language: String?,
        request: [UInt8], at now: Int64
    ) -> Flow {
        Flow(
            id: Hex.encode(surroundings.random.bytes(16)), tenantId: tenant.id, kind: kind, stage: stage, username: username.typed,
            accountId: accountId, language: language, request: request, at: now)
    }

    /// The token that carries `flow` on from where it stands.
    func token(of flow: Flow) -> String { tokens.token(of: flow.id, step: flow.step) }

    /// Finds the flow of a token.
    ///
    /// - Throws: `ContinuationTokenInvalid`, `ContinuationTokenExpired`, and for a flow that has ended what `Flow.requireGoing` throws.
    func find(_ token: String, _ kinds: [Flow.Kind], request: [UInt8], at now: Int64, in tx: Transaction) throws -> Found {
        let (id, step) = try tokens.read(token, in: tx)
        // What was made here and is not there any more was swept.
        guard let flow = try tx.flow(id) else { throw ContinuationTokenExpired() }
        guard kinds.contains(flow.kind) else { throw ContinuationTokenInvalid() }
        try flow.requireGoing()
        guard let tenant = try catalogue.knownTenant(flow.tenantId, in: tx) else { throw FlowEnded(.tenantDeleted) }
        if now >= flow.expiresAt { throw ContinuationTokenExpired(expiredAt: flow.expiresAt) }
        if step == flow.step { return .current(flow, tenant) }
        guard step == flow.step - 1, constantTimeEquals(flow.request, request), now < flow.requestedAt + Flow.repeatSeconds else {
            throw ContinuationTokenInvalid()
        }
        return .repeated(flow, tenant)
    }

    /// The tenant that a token's flow is in; nil if it is none.
    func tenantId(ofToken token: String, in tx: Transaction) throws -> String? {
        guard let (id, _) = try? tokens.read(token, in: tx) else { return nil }
        return try tx.flow(id)?.tenantId
    }

    /// Reads the flow of a token, for what takes long and has to be done before the store is written.
    func peek(_ token: String, _ kinds: [Flow.Kind], request: [UInt8], at now: Int64) throws -> Found {
        try surroundings.database.read { try find(token, kinds, request: request, at: now, in: $0) }
    }

    /// Takes one step. A refusal is answered after what was counted is safe.
    func advance(
        _ token: String, _ kinds: Flow.Kind..., request: [UInt8], at now: Int64,
        _ body: (Transaction, inout Flow, TenantRecord) throws -> Step
    ) throws -> Flow {
        try advance(token, kinds, request: request, at: now, body)
    }

    /// The same for a list of kinds.
    ///
    /// - Parameter again: looks at a flow whose last answer is to be given once more, and says whether it has changed it.
    func advance(
        _ token: String, _ kinds: [Flow.Kind], request: [UInt8], at now: Int64,
        again: (Transaction, inout Flow, TenantRecord) throws -> Bool = { _, _, _ in false },
        _ body: (Transaction, inout Flow, TenantRecord) throws -> Step
    ) throws -> Flow {
        let address = try peek(token, kinds, request: request, at: now).flow.address
        let outcome = try surroundings.database.write { tx -> Result<Flow, any Error> in
            try tx.lock([Self.lockName(address: address)])
            let found = try find(token, kinds, request: request, at: now, in: tx)
            guard case .current(var flow, let tenant) = found else {
                var flow = found.flow
                if try again(tx, &flow, found.tenant) { try tx.update(flow) }
                return .success(flow)
            }
            switch try body(tx, &flow, tenant) {
            case .moved:
                flow.move(by: request, at: now)
                try tx.update(flow)
                return .success(flow)
            case .finished:
                flow.move(by: [], at: now)
                flow.stage = .completed
                flow.end(.finished)
                try tx.update(flow)
                return .success(flow)
            case .refused(let error):
                // Whoever comes with the token has its answer: what asked for that answer again would be something new.
                flow.request = []
                try tx.update(flow)
                return .failure(error)
            case .ended(let error):
                guard let ending = Flow.Ending(error) else {
                    try tx.deleteFlow(flow.id)
                    return .failure(error)
                }
                flow.end(ending)
                try tx.update(flow)
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// Two steps of one address never run at the same time, whatever their flows.
    static func lockName(address: String) -> String { "flow/\(address)" }

    /// Judges a code, and counts it if it is wrong: against the code, the account or the address, and the client.
    ///
    /// - Parameters:
    ///   - unlock: the method that ends a lock, where there is one.
    ///   - account: what a wrong one is counted by too, without being locked by it; then a lock is about `only`.
    /// - Returns: nil if it is right.
    /// - Throws: `AccountLocked`, `CodeExpired`; neither counts.
    func judge(
        _ code: String, of flow: inout Flow, _ tenant: TenantRecord, _ sending: CodeSending, lockout subject: String,
        unlock: String? = nil, alsoOf account: String? = nil, only: String? = nil, client: ClientKey? = nil, at now: Int64,
        in tx: Transaction
    ) throws -> InvalidCode? {
        var lockout = try tx.lockout(of: subject, at: now)
        try lockout.check(at: now, unlock: unlock, only: only)
        try flow.requireLivingCode(tenant.codes, at: now)
        if sending.matches(code, of: flow, at: now, tenant.codes) {
            flow.code.mac = nil
            try tx.clearLockout(of: subject)
            return nil
        }
        flow.code.tries += 1
        try tx.countFailure(of: client, at: now)
        lockout.fail(nil, tenant.lockout, at: now)
        try tx.setLockout(lockout, of: subject, at: now)
        if let account {
            var whole = try tx.lockout(of: account, at: now)
            whole.fail(nil, tenant.lockout, at: now)
            try tx.setLockout(whole, of: account, at: now)
        }
        let (left, lock) = (tenant.codes.attempts - flow.code.tries, lockout.lock(at: now))
        return InvalidCode(
            attemptsLeft: max(0, left), resendAt: flow.resendAt(tenant.codes), next: left > 0 ? nil : flow.resendMethod,
            lockedUntil: lock?.until, retryAfterSeconds: lock?.seconds)
    }
}
