import Contract
import JSON
import Storage

/// The token of a trusted issuer, for an application of a tenant.
struct VouchedToken {
    let token: ExchangedToken
    /// The entry of the tenant for the issuer.
    let entry: SubjectIssuer
    let application: ApplicationRecord
}

/// The user of a token that is exchanged, as the transaction of the exchange has read it.
struct DelegatedSubject: Sendable {
    let token: ExchangedToken
    let accountId: String
    /// The session of the new token.
    let sessionId: String
    let authenticatedAt: Int64
    /// The application of the new token, without an actor.
    let clientId: String?
    /// The scopes of an access token, or those that were granted at the sign-in of another token.
    var scopes: Scopes
    /// The claims `amr` and `acr`.
    let methods: JSONObject
    /// The custom claims of the session and of the account.
    var ownClaims: [JSONObject]
    /// The time at which the token or the session ends.
    let end: Int64
    /// The entry of the tenant for the trusted issuer of the token; `nil` for a token of the tenant.
    var entry: SubjectIssuer?
    /// Further details of the audit record.
    var facts: [(String, String)] = []
    /// The account that begins a session; `nil` if the session exists.
    var account: AccountRecord?
    /// The application of that session.
    var application: ApplicationRecord?

    /// - Parameter holder: `nil` for a token of `test.token`.
    init(_ token: VerifiedTenantToken, _ holder: AuthenticatedAccount?, end: Int64) {
        self.token = ExchangedToken(token)
        (accountId, sessionId, authenticatedAt) = (token.accountId, token.sessionId, token.authenticatedAt)
        clientId = self.token.clientId
        scopes =
            token.use == .access
            ? Scopes(token.claims["scope"]?.string ?? "") : holder?.session.grant.scopes ?? Scopes(Scopes.usual)
        var methods = JSONObject()
        for name in ["amr", "acr"] { methods[name] = token.claims[name]?.value }
        self.methods = methods
        ownClaims = [holder?.session.claims, holder?.account.claims].compactMap { $0 }
        self.end = end
    }

    /// A subject for which a trusted issuer vouches.
    init(_ account: AccountRecord, _ vouched: VouchedToken, sessionId: String, at moment: Int64, end: Int64) {
        let (token, entry) = (vouched.token, vouched.entry)
        self.token = token
        self.sessionId = sessionId
        application = vouched.application
        clientId = vouched.application.clientId
        self.entry = entry
        self.account = account
        (accountId, authenticatedAt, self.end) = (account.id, moment, end)
        // Without a claim, the issuer sets no limit of its own.
        let said = token.claims["scope"]?.string.map { Scopes($0) }
        scopes = Scopes(entry.scopes.filter { said?.names.contains($0) ?? true })
        methods = ["amr": ["fed"]]
        ownClaims = [account.claims]
        facts = [("issuer", token.issuer), ("issuerSubject", token.subject)]
    }

    func limits(_ decision: DelegationRule.Decision, end: Int64) -> DelegationRule.Limits {
        DelegationRule.Limits(
            audiences: token.audiences, scopes: scopes, clientId: clientId, delegations: decision.delegations, entry: entry,
            // The token of a trusted issuer gives no access to the tenant, so every access token is less.
            mustNarrow: decision.mustNarrow && entry == nil, end: end, subjectEnd: token.expiresAt)
    }
}

extension TenantRecord {
    /// Returns the entry of the tenant for a trusted issuer.
    ///
    /// - Throws: `TokenIssuerMismatch`.
    func subjectIssuer(_ issuer: String) throws -> SubjectIssuer {
        guard let entry = settings.subjectIssuers?.first(where: { $0.issuer.hasBytes(of: issuer) }) else {
            throw TokenIssuerMismatch(expected: "one of subjectIssuers of the tenant \(id)", actual: issuer)
        }
        return entry
    }
}
