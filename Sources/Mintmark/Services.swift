import Contract
import Identity
import Platform

/// Every namespace over one open store. The members are what a Swift program calls in process.
///
/// A class, because every request takes it up: as a struct of services it would be copied member by member each time.
public final class Services: Sendable {
    public let surroundings: Surroundings
    public let account: AccountService
    let apply: ApplyService
    public let audit: AuditService
    public let compat: CompatService
    public let credentials: CredentialsService
    public let credentialsProvider: CredentialsProviderService
    public let identity: IdentityService
    public let idp: IdpService
    public let key: KeyService
    public let mfa: MfaService
    public let passwordReset: PasswordResetService
    public let pool: PoolService
    public let role: RoleService
    /// The session of whoever sits at this machine.
    public let ownSessions: OwnSessions
    public let session: SessionService
    public let signIn: SignInService
    public let signUp: SignUpService
    public let tenant: TenantService
    public let store: StoreService
    public let token: TokenService
    let housekeeping: Housekeeping
    /// What test.http listens with.
    let loopback: LoopbackCompat
    /// What test.idp runs.
    let provider: TestProvider
    /// In the order of `MethodTable.all`; nil where there is no handler, as for testing methods outside of tests.
    let bound: [BoundMethod?]

    init(_ surroundings: Surroundings, _ mintmark: Mintmark) {
        let catalogue = Catalogue(vault: surroundings.vault, realm: surroundings.realm)
        self.surroundings = surroundings
        account = AccountService(surroundings, catalogue)
        apply = ApplyService(surroundings)
        audit = AuditService(surroundings)
        compat = CompatService(surroundings, catalogue)
        credentials = CredentialsService(surroundings, catalogue)
        identity = IdentityService(surroundings, catalogue)
        idp = IdpService(surroundings, catalogue)
        key = KeyService(surroundings, catalogue)
        mfa = MfaService(surroundings, catalogue)
        passwordReset = PasswordResetService(surroundings, catalogue)
        pool = PoolService(surroundings, catalogue)
        role = RoleService(surroundings, catalogue)
        session = SessionService(surroundings, catalogue)
        ownSessions = OwnSessions(session)
        signIn = SignInService(surroundings, catalogue)
        signUp = SignUpService(surroundings, catalogue)
        tenant = TenantService(surroundings, catalogue)
        store = StoreService(surroundings, keyFile: mintmark.configuration.keyFile, hasOwnKey: mintmark.configuration.masterKey != nil)
        token = TokenService(surroundings, catalogue)
        credentialsProvider = CredentialsProviderService(surroundings, catalogue)
        loopback = LoopbackCompat(compat)
        provider = TestProvider(surroundings, catalogue, failures: .logged(to: mintmark.log))
        housekeeping = Housekeeping(
            surroundings, auditRetentionSeconds: mintmark.configuration.auditRetentionDays.map { Int64($0) * 86_400 },
            reports: .logged(to: mintmark.log))
        let test = mintmark.configuration.testing ? TestService(surroundings, catalogue, loopback, provider, housekeeping) : nil
        let methods = Contract.MethodTable.bind(
            account: account, audit: audit, compat: compat, credentials: credentials, credentialsProvider: credentialsProvider,
            identity: identity, idp: idp, key: key, mfa: mfa, passwordReset: passwordReset, pool: pool, role: role,
            rpc: RpcService(mintmark), session: session, signIn: signIn, signUp: signUp, store: store, system: SystemService(mintmark),
            tenant: tenant, test: test, token: token)
        let byName = Dictionary(uniqueKeysWithValues: methods.map { ($0.info.name, $0) })
        bound = Contract.MethodTable.all.map { byName[$0.name] }
    }
}
