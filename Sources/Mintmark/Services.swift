import Accounts
import Audit
import Contract
import IdentityPools
import Loopback
import Platform
import Provisioning
import ServiceContext
import SigningKeys
import VendorAPIs

/// All namespaces on one open store. Swift programs call its members in process.
///
/// It is a class because every request uses it; a struct of services would be copied member by member each time.
public final class Services: Sendable {
    public let context: ServiceContext
    let accounts: AccountsContext
    public let account: AccountService
    public let application: ApplicationService
    let apply: ApplyService
    public let audit: AuditService
    public let compat: CompatService
    public let credentials: CredentialsService
    public let credentialsProvider: CredentialsProviderService
    public let events: EventsService
    public let hooks: HooksService
    public let identity: IdentityService
    public let idp: IdpService
    public let issuer: IssuerService
    public let key: KeyService
    public let mfa: MfaService
    public let oob: OobService
    public let passkey: PasskeyService
    public let passwordReset: PasswordResetService
    public let pool: PoolService
    public let role: RoleService
    /// The session of the user who is signed in on this machine.
    public let ownSessions: LocalSessions
    public let session: SessionService
    public let signIn: SignInService
    public let signUp: SignUpService
    public let tenant: TenantService
    public let store: StoreService
    public let token: TokenService
    let housekeeping: MaintenanceScheduler
    /// The server for `test.http`.
    let loopback: LoopbackCompat
    /// The additions of a testing store; `nil` in other stores.
    let testing: TestingParts?
    /// The methods in the order of `MethodTable.all`; `nil` if a method has no handler, such as a testing method in a store without
    /// testing.
    let bound: [BoundMethod?]

    init(_ accounts: AccountsContext, _ mintmark: Mintmark) {
        let context = accounts.service
        let signingKeys = SigningKeys(vault: context.vault)
        let tenants = TenantConfigurationCache(signingKeys: signingKeys)
        let pools = PoolConfigurationCache(
            signingKeys: signingKeys, tenants: StoreTenantLogins(tenants), vault: context.vault,
            realm: context.realm)
        self.context = context
        self.accounts = accounts
        account = AccountService(accounts, tenants, identities: PoolIdentities(pools))
        application = ApplicationService(accounts, tenants)
        audit = AuditService(context)
        credentials = CredentialsService(context, pools)
        hooks = HooksService(accounts, tenants)
        apply = ApplyService(context, hooks: hooks)
        identity = IdentityService(context, pools)
        idp = IdpService(accounts, tenants)
        issuer = IssuerService(context, pools)
        key = KeyService(context, signingKeys, owners: StoreKeyOwners())
        mfa = MfaService(accounts, tenants)
        oob = OobService(accounts, tenants, account: account)
        passkey = PasskeyService(accounts, tenants)
        passwordReset = PasswordResetService(accounts, tenants)
        pool = PoolService(context, pools)
        role = RoleService(context, pools)
        session = SessionService(accounts, tenants)
        ownSessions = LocalSessions(session)
        signIn = SignInService(accounts, tenants)
        events = EventsService(context, signingKeys, signIn, host: mintmark.host, configuration: mintmark.configuration)
        signUp = SignUpService(accounts, tenants)
        tenant = TenantService(accounts, tenants)
        compat = CompatService(
            context, pools,
            firebase: FirebaseService(account: account, signIn: signIn, tenant: tenant),
            entra: EntraService(signUp: signUp, signIn: signIn, passwordReset: passwordReset, mfa: mfa, session: session))
        store = StoreService(context, keyFile: mintmark.configuration.keyFile, hasOwnKey: mintmark.configuration.masterKey != nil)
        token = TokenService(accounts, pools, tenants)
        credentialsProvider = CredentialsProviderService(context, pools)
        loopback = LoopbackCompat(compat)
        housekeeping = MaintenanceScheduler(
            context,
            sweeps: ExpiryJob.all(
                of: context, auditRetentionSeconds: mintmark.configuration.auditRetentionDays.map { Int64($0) * 86_400 }),
            reports: .logged(to: mintmark.log, headsFile: mintmark.configuration.auditHeadsFile.map { AuditHeadsFile($0) }),
            // Sends notices that another process left or that are due for a retry.
            afterSweep: { [accounts] settles in if settles { accounts.sendDueNotices() } else { accounts.sendNotices() } })
        testing =
            mintmark.configuration.testing
            ? TestingParts(
                .init(
                    accounts: accounts, tenants: tenants, account: account, housekeeping: housekeeping, loopback: loopback, compat: compat,
                    http: mintmark.configuration.httpClient(mintmark.faults)),
                log: mintmark.log) : nil
        let methods = Contract.MethodTable.bind(
            account: account, application: application, audit: audit, compat: compat, credentials: credentials,
            credentialsProvider: credentialsProvider, events: events, hooks: hooks, identity: identity, idp: idp, issuer: issuer, key: key,
            mfa: mfa, oob: oob, passkey: passkey, passwordReset: passwordReset, pool: pool, role: role,
            rpc: RpcService(mintmark), session: session, signIn: signIn, signUp: signUp, store: store, system: SystemService(mintmark),
            tenant: tenant, test: testing?.service, token: token)
        var byName = Dictionary(uniqueKeysWithValues: methods.map { ($0.info.name, $0) })
        let inPhases = MethodsInPhases(
            account: account, credentials: credentials, credentialsProvider: credentialsProvider, events: events, identity: identity,
            signIn: signIn, token: token)
        for method in inPhases.bound { byName[method.info.name] = method }
        bound = Contract.MethodTable.all.map { byName[$0.name] }
    }
}
