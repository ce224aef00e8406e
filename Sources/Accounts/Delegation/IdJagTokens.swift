import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys
import Storage

/// The assertions of a tenant for other authorization servers (draft-ietf-oauth-identity-assertion-authz-grant).
extension DelegatedTokens {
    /// The maximum lifetime of an assertion, in seconds.
    private static let maximumSeconds: Int64 = 300

    /// The request for an assertion.
    package struct AssertionWish: Sendable {
        let clientId: String
        /// The issuer of the authorization server that redeems the assertion.
        let audience: String
        let resources: [String]
        let scope: String?
        let expiresInSeconds: Int64?

        package init(clientId: String, audience: String, resources: [String], scope: String?, expiresInSeconds: Int64?) {
            self.clientId = clientId
            self.audience = audience
            self.resources = resources
            self.scope = scope
            self.expiresInSeconds = expiresInSeconds
        }
    }

    /// Returns an assertion for the user of an ID token.
    ///
    /// - Throws: `ExchangeNotAllowed`, `TokenAudienceMismatch`, `ActorTokenRequired`, `ClientUnknown`, `AudienceNotOffered`,
    ///   `ScopeNotGranted`, `TokenExpired`, `TokenRevoked`.
    package func assertion(for token: VerifiedTenantToken, _ wish: AssertionWish, _ attempt: Attempt) throws -> Issued {
        let (id, now) = (context.random.uuid(), attempt.now)
        let (claims, expiresAt, scope, key) = try context.database.write { tx -> (JSONObject, Int64, String, StoredKey) in
            let tenant = try configurations.tenant(token.tenantId, in: tx)
            try tenant.requireEnabled()
            _ = try tenant.knownApplication(wish.clientId)
            if token.audience != wish.clientId { throw TokenAudienceMismatch(expected: wish.clientId, actual: token.audiences) }
            if token.claims["act"] != nil || token.claims["may_act"] != nil { throw ActorTokenRequired() }
            let isOfTest = context.isTesting && token.sessionId == SessionRecord.ofTestTokens
            let account = try isOfTest ? tx.account(token.accountId) : AuthenticatedAccount(token, in: tx).account
            let (permission, scopes) = try Self.permission(for: wish, by: tenant)
            let sessionEnd = min(token.expiresAt, tenant.tokens.end(ofSessionFrom: token.authenticatedAt) ?? .max)
            let expiresAt = min(sessionEnd, now + min(Self.maximumSeconds, wish.expiresInSeconds ?? .max))
            if expiresAt <= now { throw TokenExpired(expiredAt: expiresAt, now: now) }
            guard let key = try configurations.signingKeys.ring(of: .tenant(tenant.id), in: tx).active(at: now) else {
                throw TenantNotFound(tenantId: tenant.id)
            }
            var claims: JSONObject = [
                "iss": .string(token.issuer), "sub": .string(token.accountId), "aud": .string(wish.audience),
                "client_id": .string(permission.clientIdThere), "jti": .string(id), "iat": .number(JSONNumber(now)),
                "exp": .number(JSONNumber(expiresAt)), "auth_time": .number(JSONNumber(token.authenticatedAt)),
            ]
            if !scopes.names.isEmpty { claims["scope"] = .string(scopes.text) }
            if let first = wish.resources.first {
                claims["resource"] = wish.resources.count == 1 ? .string(first) : .array(wish.resources.map { .string($0) })
            }
            for name in ["amr", "acr"] { claims[name] = token.claims[name]?.value }
            // An address that the user has not verified can belong to another person.
            if permission.email, let account, account.isEmailVerified, let email = account.email {
                claims["email"] = .string(email)
                claims["email_verified"] = true
            }
            var event = AuditEvent(attempt.method, attempt.call, tenant: tenant.id, subject: token.accountId)
            event.details["sessionId"] = .string(token.sessionId)
            event.details["tokenId"] = .string(id)
            event.details["clientId"] = .string(wish.clientId)
            event.details["assertionFor"] = .string(wish.audience)
            event.details["scope"] = .string(scopes.text)
            try context.audit.record(event, at: now, in: tx)
            return (claims, expiresAt, scopes.text, key)
        }
        let signer = JWSSigner(key.privateKey, type: TokenType.assertion)
        return Issued(token: try signer.sign(JSONValue.object(claims).bytes), expiresAt: expiresAt, scope: scope)
    }

    /// Returns the entry of the tenant that permits an assertion, and its scopes.
    private static func permission(for wish: AssertionWish, by tenant: TenantRecord) throws -> (IdJagPermission, Scopes) {
        let entries = (tenant.settings.idJag ?? []).filter { $0.clientId == wish.clientId }
        guard let entry = entries.first(where: { $0.audiences.contains { $0.hasBytes(of: wish.audience) } }) else {
            throw ExchangeNotAllowed(
                reason: "idJag of the tenant does not permit the application \(wish.clientId) to request assertions for \(wish.audience)")
        }
        for resource in wish.resources where entry.resources?.contains(resource) != true {
            throw AudienceNotOffered(tenantId: tenant.id, audience: resource)
        }
        guard let scope = wish.scope else { return (entry, Scopes(entry.scopes)) }
        let scopes = Scopes(scope)
        let missing = Scopes(entry.scopes).lacking(scopes.names)
        if !missing.isEmpty { throw ScopeNotGranted(scopes: missing, granted: entry.scopes) }
        return (entry, scopes)
    }
}

/// An assertion of a trusted issuer whose signature and claims were verified.
package struct VerifiedAssertion: Sendable {
    let token: ExchangedToken
    let resources: [String]
    /// `nil` if the assertion sets no limit.
    let scope: String?

    package init(issuer: String, subject: String, expiresAt: Int64, claims: JSONNode, resources: [String], scope: String?) {
        token = ExchangedToken(issuer: issuer, subject: subject, expiresAt: expiresAt, claims: claims)
        self.resources = resources
        self.scope = scope
    }
}

extension DelegatedTokens {
    /// Redeems an assertion for an access token of the account that is linked with its subject.
    ///
    /// - Throws: The errors of `token.redeem`.
    package func redeem(
        _ assertion: VerifiedAssertion, ofTenant tenantId: String, clientId: String, scope: String?, _ attempt: Attempt
    ) throws -> Issued {
        let signIn = AssertedSignIn(context, configurations, method: attempt.method, call: attempt.call, now: attempt.now)
        return try issue(by: attempt, signIn) { tx in
            let tenant = try configurations.tenant(tenantId, in: tx)
            try tenant.requireEnabled()
            let entry = try tenant.subjectIssuer(assertion.token.issuer)
            let application = try tenant.knownApplication(clientId)
            let account = try signIn.account(of: assertion.token, entry, in: tenant, in: tx)
            var subject = signIn.subject(account, assertion.token, entry, application, of: tenant, endsWithToken: false)
            let requested = scope.map { Scopes($0) }
            if let said = assertion.scope.map({ Scopes($0) }) {
                let missing = said.lacking(requested?.names ?? [])
                if !missing.isEmpty { throw ScopeNotGranted(scopes: missing, granted: said.names) }
            } else if requested == nil {
                // Nobody has asked for a scope.
                subject.scopes = Scopes("")
            }
            let decision = DelegationRule.Decision(chain: ActorChain(), delegations: nil, mustNarrow: false)
            let grant = try DelegationRule.grant(
                .init(audiences: assertion.resources, scope: scope, expiresInSeconds: nil), subject.limits(decision, end: subject.end),
                by: tenant, at: attempt.now)
            try signIn.begin(&subject, until: grant.expiresAt, scopes: grant.scopes, of: tenant, in: tx)
            subject.facts.append(("clientId", clientId))
            if let id = assertion.token.claims["jti"]?.string { subject.facts.append(("assertionId", id)) }
            return (tenant, subject, Draft(grant: grant, chain: decision.chain, mayAct: nil, clientId: clientId))
        }
    }
}
