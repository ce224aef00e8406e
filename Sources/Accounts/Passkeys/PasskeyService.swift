import Contract
import Crypto
import Platform
import ServiceContext
import Storage

/// Implements the methods `passkey.*`.
public struct PasskeyService: Sendable {
    var context: AccountsContext
    /// The context, for health checks.
    package var accounts: AccountsContext { context }
    let configurations: TenantConfigurationCache
    let flows: Flows

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        flows = Flows(context, configurations)
    }

    /// - Throws: the errors of ID token verification.
    func verify(_ idToken: String, at now: Int64) throws -> VerifiedTenantToken {
        try TenantTokenVerifier(context: context, configurations: configurations).verify(idToken, .init(use: .id), now: now)
    }

    /// Returns the account that the developer named by its ID.
    ///
    /// - Throws: `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`, `PasskeysOff`.
    func named(_ accountId: String, by method: String, _ call: any CallContext, in tx: Transaction) throws -> (AccountRecord, TenantRecord)
    {
        if call.isPublicCaller { throw CallerNotAllowed(method: "\(method) by accountId") }
        guard let account = try tx.account(accountId), let tenant = try configurations.knownTenant(account.tenantId, in: tx) else {
            throw try tx.absence(of: accountId)
        }
        _ = try tenant.passkeySettings()
        return (account, tenant)
    }

    /// - Throws: `AccountMerged`, `TokenRevoked`, `PasskeysOff`.
    func owner(_ token: VerifiedTenantToken, in tx: Transaction) throws -> (AuthenticatedAccount, TenantRecord) {
        let own = try AuthenticatedAccount(token, in: tx)
        let tenant = try configurations.tenant(token.tenantId, in: tx)
        _ = try tenant.passkeySettings()
        return (own, tenant)
    }

    /// - Throws: `PasskeyNotFound`.
    func passkey(_ id: String, of account: AccountRecord, in tx: Transaction) throws -> PasskeyRecord {
        guard let bytes = Base64URL.decode(id.utf8), let passkey = try tx.passkey(bytes, in: account.tenantId),
            passkey.accountId == account.id
        else { throw PasskeyNotFound(credentialId: id) }
        return passkey
    }
}

extension PasskeyService: PasskeyHandlers {
    /// `flows` keeps the service's own access: only methods that can wait use it.
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}

/// The challenge and the ID of a ceremony, drawn before the transaction.
struct PasskeyDraws: Sendable {
    let id: String
    let challenge: String
    let userHandle: [UInt8]

    init(_ context: AccountsContext) {
        id = Hex.encode(context.random.bytes(16))
        challenge = Base64URL.encode(context.random.bytes(32))
        userHandle = context.random.bytes(32)
    }

    /// Returns the user handle of an account. The first registration stores a new one.
    func userHandle(of accountId: String, in tx: Transaction) throws -> [UInt8] {
        if let handle = try tx.userHandle(of: accountId) { return handle }
        try tx.setUserHandle(userHandle, of: accountId)
        return userHandle
    }

    /// Returns the challenge, or the next one that a test has queued.
    func challenge(_ context: AccountsContext, in tx: Transaction) throws -> String {
        guard context.isTesting, let next = try tx.queuedPasskeyChallenges().first else { return challenge }
        try tx.queuePasskeyChallenges(Array(try tx.queuedPasskeyChallenges().dropFirst()))
        return next
    }
}

extension Transaction {
    private static let queue = "test.passkeyChallenges"

    /// The challenges that a test has queued for the next ceremonies, next one first.
    package func queuedPasskeyChallenges() throws -> [String] {
        try storeFact(Self.queue)?.split(separator: " ").map(String.init) ?? []
    }

    package func queuePasskeyChallenges(_ challenges: [String]) throws {
        try setStoreFact(Self.queue, challenges.isEmpty ? nil : challenges.joined(separator: " "))
    }
}

/// Finds the ceremony of a continuation token.
struct PasskeyCeremonies: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache

    /// - Throws: `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `FlowEnded`.
    func find(_ token: String, _ kind: StoredCeremony.Kind, at now: Int64, in tx: Transaction) throws -> (StoredCeremony, TenantRecord) {
        let (id, _) = try ContinuationTokens(context).read(token, in: tx)
        guard let ceremony = try tx.ceremony(id) else {
            // The token is authentic: it is of another kind of flow, or its ceremony was deleted after it expired.
            if try tx.flow(id) != nil || tx.idpFlow(id) != nil { throw ContinuationTokenInvalid() }
            throw ContinuationTokenExpired()
        }
        guard ceremony.kind == kind else { throw ContinuationTokenInvalid() }
        guard let tenant = try configurations.knownTenant(ceremony.tenantId, in: tx) else { throw FlowEnded(.tenantDeleted) }
        try tenant.requireEnabled()
        if now >= ceremony.expiresAt { throw ContinuationTokenExpired(expiredAt: ceremony.expiresAt) }
        return (ceremony, tenant)
    }
}
