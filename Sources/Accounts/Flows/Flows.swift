import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Storage

/// The operations that all flows share: creating a flow, and finding the flow of a continuation token. `FlowStep` continues a flow.
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

    /// Returns an HMAC of the method and parameters, which identifies a repeated request.
    func fingerprint(_ method: String, _ parts: [JSONValue]) -> [UInt8] {
        HMAC.sha256(key: requestKey, JSONValue.array([.string(method)] + parts).bytes)
    }

    /// Returns a new ID of a flow.
    func newId() -> String { Hex.encode(context.random.bytes(16)) }

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
        try tenant.requireEnabled()
        if tenant.application(named: flow.application.name) == nil { throw FlowEnded(.applicationDeleted) }
        if now >= flow.expiresAt { throw ContinuationTokenExpired(expiredAt: flow.expiresAt) }
        if step == flow.step { return .current(flow, tenant) }
        if let since = flow.application.attributesSince, flow.stage == .attributesRequired, step >= since, step < flow.step,
            !constantTimeEquals(flow.request, request)
        {
            return .current(flow, tenant)
        }
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

    /// The name of the lock that serializes all steps for one address, across flows.
    static func lockName(address: String) -> String { "flow/\(address)" }
}
