import Accounts
import Contract
import IdentityPools
import ServiceContext

extension TokenService {
    /// Redeems an assertion of another authorization server for an access token.
    ///
    /// - Throws: A `Token…` error that names the failed check, `ClientUnknown`, `ClientSecretInvalid`, `UserNotFound`, `AccountDisabled`,
    ///   `AccountLocked`, `SecondFactorRequired`, `AudienceNotOffered`, `ScopeNotGranted`, `TenantNotFound`, `TenantDisabled`.
    /// - Source: draft-ietf-oauth-identity-assertion-authz-grant.
    public func redeem(_ request: TokenRedeem.Params, _ call: any CallContext) throws -> TokenRedeem.Result {
        try OAuthErrors.naming(.grant) {
            let now = context.clock.now
            let tenant = try context.database.read { try tenants.tenant(request.tenantId, in: $0) }
            try authenticate(request.clientId, request.clientSecret, of: tenant.id, mustBeConfidentialFor: "an assertion")
            let assertion = try trustedTokens.assertion(
                request.assertion, audience: context.realm.issuer(of: .tenant(tenant.id)), clientId: request.clientId, call, now: now)
            let issued = try delegatedTokens.redeem(
                VerifiedAssertion(
                    ExchangedToken(
                        issuer: assertion.issuer, subject: assertion.subject, expiresAt: assertion.expiresAt, claims: assertion.claims),
                    resources: assertion.resources, scope: assertion.scope), ofTenant: tenant.id, clientId: request.clientId,
                scope: request.scope, .init(method: TokenRedeem.info.name, call: call, now: now) { try assertion.use(in: $0) })
            return TokenRedeem.Result(token: issued.token, tokenType: .Bearer, expiresAt: issued.expiresAt, scope: issued.scope)
        }
    }

    /// Authenticates the application of a request.
    ///
    /// - Parameters:
    ///   - clientId: `nil` if the request names no application.
    ///   - result: The result that only confidential applications get, or `nil` if the application can be public.
    /// - Throws: `ClientUnknown`, `ClientSecretInvalid`.
    func authenticate(
        _ clientId: String?, _ secret: String?, of tenantId: String, mustBeConfidentialFor result: String? = nil
    ) throws {
        guard clientId != nil || secret != nil else { return }
        let tenant = try context.database.read { try tenants.tenant(tenantId, in: $0) }
        let application = try tenant.knownApplication(clientId)
        let isAuthenticated = try ApplicationAuthentication(accounts).isAuthenticated(application, by: secret)
        if let result, !isAuthenticated {
            throw ClientSecretInvalid(
                clientId: application.clientId,
                reason: "\(result) needs a confidential application with a secret; use application.put and application.addSecret")
        }
    }
}
