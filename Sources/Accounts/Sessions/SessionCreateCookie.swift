import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys

extension SessionService {
    /// Exchanges an ID token for a session cookie with the same claims.
    ///
    /// - Throws: The errors of ID token verification.
    public func createCookie(_ request: SessionCreateCookie.Params, _ call: any CallContext) throws -> SessionCreateCookie.Result {
        let now = context.clock.now
        let token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
            request.idToken, .init(use: .id), now: now)
        let tenant = try context.database.read { try configurations.tenant(token.tenantId, in: $0) }
        // No token outlives its session.
        let expiresAt = min(now + request.durationSeconds, tenant.tokens.end(ofSessionFrom: token.authenticatedAt) ?? .max)
        var claims = token.claims.value.object ?? [:]
        claims["iat"] = .number(JSONNumber(now))
        claims["exp"] = .number(JSONNumber(expiresAt))
        let key = try SignInCompletion(context, configurations).signingKey(of: tenant, at: now)
        let signer = JWSSigner(key.privateKey, type: TokenType.cookie)
        return SessionCreateCookie.Result(cookie: try signer.sign(JSONValue.object(claims).bytes), expiresAt: expiresAt)
    }
}
