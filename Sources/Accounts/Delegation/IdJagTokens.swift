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

    /// Returns an assertion for the user of an ID token or refresh token.
    ///
    /// - Throws: `ExchangeNotAllowed`, `RefreshTokenInvalid`, `RefreshTokenExpired`, `AccountDisabled`,
    ///   `SecondFactorRequired`, `TokenAudienceMismatch`, `ActorTokenRequired`, `ClientUnknown`, `AudienceNotOffered`,
    ///   `ScopeNotGranted`, `TokenExpired`, `TokenRevoked`.
    package func assertion(for proof: AssertionProof, _ wish: AssertionWish, _ attempt: Attempt) throws -> Issued {
        let (id, now) = (context.random.uuid(), attempt.now)
        let (claims, expiresAt, scope, key) = try context.database.write { tx -> (JSONObject, Int64, String, StoredKey) in
            let subject = try subject(of: proof, at: now, in: tx)
            let (tenant, account) = (subject.tenant, subject.account)
            try tenant.requireEnabled()
            _ = try tenant.knownApplication(wish.clientId)
            // An application gets assertions for its own sign-ins only.
            if subject.clientId != wish.clientId { throw TokenAudienceMismatch(expected: wish.clientId, actual: [subject.clientId]) }
            let (permission, scopes) = try Self.permission(for: wish, by: tenant)
            let sessionEnd = min(subject.expiresAt, tenant.tokens.end(ofSessionFrom: subject.authenticatedAt) ?? .max)
            let expiresAt = min(sessionEnd, now + min(Self.maximumSeconds, wish.expiresInSeconds ?? .max))
            if expiresAt <= now { throw TokenExpired(expiredAt: expiresAt, now: now) }
            guard let key = try configurations.signingKeys.ring(of: .tenant(tenant.id), in: tx).active(at: now) else {
                throw TenantNotFound(tenantId: tenant.id)
            }
            var claims: JSONObject = [
                "iss": .string(context.realm.issuer(of: .tenant(tenant.id))), "sub": .string(subject.accountId),
                "aud": .string(wish.audience),
                "client_id": .string(permission.clientIdThere), "jti": .string(id), "iat": .number(JSONNumber(now)),
                "exp": .number(JSONNumber(expiresAt)), "auth_time": .number(JSONNumber(subject.authenticatedAt)),
            ]
            if !scopes.names.isEmpty { claims["scope"] = .string(scopes.text) }
            if let first = wish.resources.first {
                claims["resource"] = wish.resources.count == 1 ? .string(first) : .array(wish.resources.map { .string($0) })
            }
            for (name, value) in subject.methods.members { claims[name] = value }
            // An address that the user has not verified can belong to another person.
            if permission.email, let account, account.isEmailVerified, let email = account.email {
                claims["email"] = .string(email)
                claims["email_verified"] = true
            }
            var event = AuditEvent(attempt.method, attempt.call, tenant: tenant.id, subject: subject.accountId)
            event.details["sessionId"] = .string(subject.sessionId)
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

/// The proof that a user is signed in to an application.
package enum AssertionProof: Sendable {
    case idToken(VerifiedTenantToken)
    case refreshToken(String)
}

extension DelegatedTokens {
    /// The signed-in user who gets an assertion.
    private struct AssertionSubject {
        let tenant: TenantRecord
        let accountId: String
        /// `nil` for an account that only a token of `test.token` names.
        let account: AccountRecord?
        let sessionId: String
        let clientId: String
        let authenticatedAt: Int64
        let expiresAt: Int64
        /// The claims `amr` and `acr`.
        let methods: JSONObject
    }

    private func subject(of proof: AssertionProof, at now: Int64, in tx: Transaction) throws -> AssertionSubject {
        switch proof {
        case .idToken(let token):
            if token.claims["act"] != nil || token.claims["may_act"] != nil { throw ActorTokenRequired() }
            let isOfTest = context.isTesting && token.sessionId == SessionRecord.ofTestTokens
            var methods = JSONObject()
            for name in ["amr", "acr"] { methods[name] = token.claims[name]?.value }
            return AssertionSubject(
                tenant: try configurations.tenant(token.tenantId, in: tx), accountId: token.accountId,
                account: try isOfTest ? tx.account(token.accountId) : AuthenticatedAccount(token, in: tx).account,
                sessionId: token.sessionId, clientId: token.audience, authenticatedAt: token.authenticatedAt, expiresAt: token.expiresAt,
                methods: methods)
        case .refreshToken(let text):
            let (token, session, account, tenant) = try holder(ofRefreshToken: text, in: tx)
            if token.expiresAt <= now { throw RefreshTokenExpired(expiredAt: token.expiresAt) }
            // A used token is only for the application that did not receive its successor.
            if token.usedAt != nil { throw RefreshTokenInvalid() }
            if account.isDisabled { throw AccountDisabled(accountId: account.id) }
            if tenant.settings.mfa == .required, session.secondFactor == nil,
                try SecondFactorRule.decide(.required, session.proof, try tx.factors(of: account.id)) != .nothing
            {
                throw SecondFactorRequired()
            }
            var methods: JSONObject = ["amr": .array(session.amr.map { .string($0) })]
            methods["acr"] = session.acr.map { .string($0) }
            return AssertionSubject(
                tenant: tenant, accountId: account.id, account: account, sessionId: session.id,
                clientId: session.grant.application?.clientId ?? tenant.id, authenticatedAt: session.authenticatedAt,
                expiresAt: token.expiresAt, methods: methods)
        }
    }

    private func holder(
        ofRefreshToken text: String, in tx: Transaction
    ) throws -> (RefreshTokenRecord, SessionRecord, AccountRecord, TenantRecord) {
        let mac = SignInCompletion(context, configurations).mac(ofRefreshToken: text)
        guard let token = try tx.refreshToken(mac), let session = try tx.session(token.sessionId),
            let account = try tx.account(session.accountId), let tenant = try configurations.knownTenant(account.tenantId, in: tx)
        else { throw RefreshTokenInvalid() }
        return (token, session, account, tenant)
    }

    /// Returns the tenant of a refresh token.
    ///
    /// - Throws: `RefreshTokenInvalid`.
    package func tenantId(ofRefreshToken text: String) throws -> String {
        try context.database.read { try holder(ofRefreshToken: text, in: $0).3.id }
    }
}

/// An assertion of a trusted issuer whose signature and claims were verified.
package struct VerifiedAssertion: Sendable {
    let token: ExchangedToken
    let resources: [String]
    /// `nil` if the assertion sets no limit.
    let scope: String?

    package init(_ token: ExchangedToken, resources: [String], scope: String?) {
        self.token = token
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
            let vouched = VouchedToken(token: assertion.token, entry: entry, application: application)
            var subject = signIn.subject(account, vouched, of: tenant, endsWithToken: false)
            let requested = scope.map { Scopes($0) }
            if let said = assertion.scope.map({ Scopes($0) }) {
                let missing = said.lacking(requested?.names ?? [])
                if !missing.isEmpty { throw ScopeNotGranted(scopes: missing, granted: said.names) }
            } else if requested == nil {
                // Neither the assertion nor the request names a scope.
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
