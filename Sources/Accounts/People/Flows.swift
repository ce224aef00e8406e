import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// The operations that all flows share: finding the flow of a continuation token, and advancing it by one step.
struct Flows: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache
    private let tokens: ContinuationTokens
    private let requestKey: SecretBytes

    init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        tokens = ContinuationTokens(context)
        requestKey = context.vault.subkey("repeated request")
    }

    /// The flow of a continuation token.
    enum Found {
        case current(Flow, TenantRecord)
        /// The token and the request are those of the previous step: the response must be repeated.
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

    /// The outcome of a step.
    enum Step {
        case moved
        /// The flow is complete. The response contains tokens and is never repeated.
        case finished
        /// The flow stays in its step, and its counters are stored.
        case refused(any ContractError)
        /// The flow ended with an error.
        case ended(any ContractError)
    }

    /// Returns an HMAC of the method and parameters, which identifies a repeated request.
    func fingerprint(_ method: String, _ parts: [JSONValue]) -> [UInt8] {
        HMAC.sha256(key: requestKey, JSONValue.array([.string(method)] + parts).bytes)
    }

    func newFlow(
        _ kind: Flow.Kind, _ stage: Flow.Stage, _ username: Username, of accountId: String, in tenant: TenantRecord, language: String?,
        request: [UInt8], at now: Int64
    ) -> Flow {
        Flow(
            id: Hex.encode(context.random.bytes(16)), tenantId: tenant.id, kind: kind, stage: stage, username: username.typed,
            accountId: accountId, language: language, request: request, at: now)
    }

    /// Returns the continuation token for the current step of `flow`.
    func token(of flow: Flow) -> String { tokens.token(of: flow.id, step: flow.step) }

    /// Finds the flow of a token.
    ///
    /// - Throws: `ContinuationTokenInvalid`, `ContinuationTokenExpired`, and for a flow that has ended the errors of `Flow.requireGoing`.
    func find(_ token: String, _ kinds: [Flow.Kind], request: [UInt8], at now: Int64, in tx: Transaction) throws -> Found {
        let (id, step) = try tokens.read(token, in: tx)
        // The token is authentic but its flow does not exist: the flow expired and was deleted.
        guard let flow = try tx.flow(id) else { throw ContinuationTokenExpired() }
        guard kinds.contains(flow.kind) else { throw ContinuationTokenInvalid() }
        try flow.requireGoing()
        guard let tenant = try configurations.knownTenant(flow.tenantId, in: tx) else { throw FlowEnded(.tenantDeleted) }
        if now >= flow.expiresAt { throw ContinuationTokenExpired(expiredAt: flow.expiresAt) }
        if step == flow.step { return .current(flow, tenant) }
        guard step == flow.step - 1, constantTimeEquals(flow.request, request), now < flow.requestedAt + Flow.repeatSeconds else {
            throw ContinuationTokenInvalid()
        }
        return .repeated(flow, tenant)
    }

    /// Returns the tenant ID of a token's flow, or `nil` if the token is not valid or the flow does not exist.
    func tenantId(ofToken token: String, in tx: Transaction) throws -> String? {
        guard let (id, _) = try? tokens.read(token, in: tx) else { return nil }
        return try tx.flow(id)?.tenantId
    }

    /// Reads the flow of a token, for slow work that must be done before the write transaction.
    func peek(_ token: String, _ kinds: [Flow.Kind], request: [UInt8], at now: Int64) throws -> Found {
        try context.database.read { try find(token, kinds, request: request, at: now, in: $0) }
    }

    /// Takes one step. A refusal is thrown after the transaction stored its counters.
    func advance(
        _ token: String, _ kinds: Flow.Kind..., request: [UInt8], at now: Int64,
        _ body: (Transaction, inout Flow, TenantRecord) throws -> Step
    ) throws -> Flow {
        try advance(token, kinds, request: request, at: now, body)
    }

    /// Takes one step of a flow of the given kinds.
    ///
    /// - Parameter again: Updates a flow whose last response is repeated, and returns whether it changed.
    func advance(
        _ token: String, _ kinds: [Flow.Kind], request: [UInt8], at now: Int64,
        again: (Transaction, inout Flow, TenantRecord) throws -> Bool = { _, _, _ in false },
        _ body: (Transaction, inout Flow, TenantRecord) throws -> Step
    ) throws -> Flow {
        let address = try peek(token, kinds, request: request, at: now).flow.address
        let outcome = try context.database.write { tx -> Result<Flow, any Error> in
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
                // The caller now has the response to this step, so a repetition of the previous request is no longer a retry.
                flow.request = []
                try tx.update(flow)
                return .failure(error)
            case .ended(let error):
                guard let ending = Flow.ExitStatus(error) else {
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

    /// The name of the lock that serializes all steps for one address, across flows.
    static func lockName(address: String) -> String { "flow/\(address)" }
}
