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
