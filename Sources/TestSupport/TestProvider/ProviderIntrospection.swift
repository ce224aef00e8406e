import Accounts
import Contract
import JSON
import Loopback
import ServiceContext

extension TestProvider {
    /// Returns the state and the claims of a token (RFC 7662).
    func introspect(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        let client = try client(in: request, at: .introspect, of: issuer, acceptsAny: issuer.settings.clients == nil)
        // Without configured clients, every resource server can introspect.
        if issuer.settings.clients != nil, !client.isAuthenticated {
            throw OAuthRefusal(
                "invalid_client",
                "The client \(client.id) has no secret and no keys, and cannot introspect tokens (RFC 7662 2.1). "
                    + "Give it a clientSecret or keys in test.idp."
            )
        }
        guard let token = request.form["token"] else { throw OAuthRefusal("invalid_request", "token is missing.") }
        let now = context.clock.now
        if let (record, grant) = try refreshToken(token), grant.issuer == issuer.name {
            let standing = record.usedAt == nil && record.expiresAt > now ? try standing(of: record.sessionId, at: now) : nil
            guard let standing else { return LoopbackResponse(json: ["active": false]) }
            var answer: JSONObject = [
                "active": true, "iss": .string(issuer.url), "sub": .string(standing.account.id), "client_id": .string(grant.clientId),
                "exp": .number(JSONNumber(record.expiresAt)),
            ]
            answer["scope"] = grant.scopes.shown
            return LoopbackResponse(json: answer)
        }
        guard let proven = try good(token, of: issuer) else { return LoopbackResponse(json: ["active": false]) }
        var answer = proven.claims
        (answer["active"], answer["token_type"]) = (true, proven.claims.boundKey == nil ? "Bearer" : "DPoP")
        return LoopbackResponse(json: answer)
    }

    /// Revokes a token (RFC 7009). Revoking an unknown token succeeds.
    func revoke(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        let client = try client(in: request, at: .revoke, of: issuer)
        guard let token = request.form["token"] else { throw OAuthRefusal("invalid_request", "token is missing.") }
        if let (record, grant) = try refreshToken(token) {
            guard grant.issuer == issuer.name, grant.clientId == client.id else {
                throw OAuthRefusal("invalid_grant", "The token belongs to another client.")
            }
            try endSession(record.sessionId)
        } else if let proven = try good(token, of: issuer), let id = proven.claims["jti"]?.string {
            guard proven.claims["client_id"]?.string == client.id else {
                throw OAuthRefusal("invalid_grant", "The token belongs to another client.")
            }
            let (now, end) = (context.clock.now, proven.claims["exp"]?.int ?? VirtualClock.range.upperBound)
            memory.withLock { $0.revoke(id, until: end, at: now) }
        }
        return LoopbackResponse(status: 200, headers: [("cache-control", "no-store")])
    }

    /// Returns a valid access token, or `nil` if the token is not valid.
    private func good(_ token: String, of issuer: ProviderIssuer) throws -> ProvenToken? {
        do { return try access(token, of: issuer) } catch is OAuthRefusal { return nil } catch is any ContractError { return nil }
    }

    /// Returns the record and the grant of a refresh token of this provider.
    func refreshToken(_ token: String) throws -> (RefreshTokenRecord, ProviderState.Grant)? {
        let mac = SignInCompletion(context, configurations).mac(ofRefreshToken: token)
        guard let record = try context.database.read({ try $0.refreshToken(mac) }),
            let grant = memory.withLock({ $0.grants[record.sessionId] })
        else { return nil }
        return (record, grant)
    }
}
