import Contract
import JSON
import ServiceContext
import SigningKeys
import Storage

/// Issues access tokens in exchange for other tokens (RFC 8693).
package struct DelegatedTokens: Sendable {
    private let context: ServiceContext
    private let configurations: TenantConfigurationCache

    package init(context: ServiceContext, configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    /// A signed access token.
    package struct Issued: Sendable {
        package let token: String
        package let expiresAt: Int64
        package let scope: String
    }

    /// The call that issues a token.
    package struct Attempt: Sendable {
        let method: String
        let call: any CallContext
        let now: Int64
        /// Runs in the transaction that records the exchange.
        let within: @Sendable (Transaction) throws -> Void

        package init(
            method: String, call: any CallContext, now: Int64, within: @escaping @Sendable (Transaction) throws -> Void = { _ in }
        ) {
            self.method = method
            self.call = call
            self.now = now
            self.within = within
        }
    }

    /// Exchanges the token of a user, with or without the token of an actor.
    ///
    /// - Throws: The errors of `token.exchange`.
    package func exchange(
        _ token: VerifiedTenantToken, actor: ExchangedToken?, for wish: DelegationRule.Wish, _ attempt: Attempt
    ) throws -> Issued {
        try issue(to: token, attempt) { subject, tenant, tx in
            let decision = try DelegationRule.decide(subject.token, actor, tenant.settings.delegations ?? [])
            try requireStanding(of: decision.chain, at: attempt.now, in: tx)
            let grant = try DelegationRule.grant(
                wish, subject.limits(decision, end: min(subject.end, actor?.expiresAt ?? .max)), by: tenant, at: attempt.now)
            return Draft(
                grant: grant, chain: decision.chain, mayAct: nil,
                clientId: (decision.mustNarrow ? nil : actor?.clientId) ?? subject.token.clientId ?? tenant.id)
        }
    }

    /// Issues a token with which an actor may act for the user.
    ///
    /// - Throws: The errors of `token.delegate`.
    package func delegate(
        _ token: VerifiedTenantToken, to actor: DelegationActor, for wish: DelegationRule.Wish, _ attempt: Attempt
    ) throws -> Issued {
        try issue(to: token, attempt) { subject, tenant, tx in
            let issuer = actor.iss ?? token.issuer
            if issuer == token.issuer {
                if actor.sub == token.accountId { throw ActorNotAllowed(reason: "the actor is the user itself") }
                guard try tx.account(actor.sub)?.tenantId == tenant.id else { throw AccountNotFound(accountId: actor.sub) }
            }
            let decision = DelegationRule.Decision(chain: ActorChain(), delegations: nil, mustNarrow: false)
            let grant = try DelegationRule.grant(wish, subject.limits(decision, end: subject.end), by: tenant, at: attempt.now)
            var mayAct: JSONObject = ["sub": .string(actor.sub), "iss": .string(issuer)]
            mayAct["client_id"] = actor.clientId.map { .string($0) }
            return Draft(grant: grant, chain: decision.chain, mayAct: mayAct, clientId: subject.token.clientId ?? tenant.id)
        }
    }

    // MARK: Subject

    /// The user of a token, read in the transaction of the exchange.
    private struct Subject {
        let token: ExchangedToken
        let verified: VerifiedTenantToken
        /// `nil` for a token of `test.token`.
        let holder: AuthenticatedAccount?
        let end: Int64

        /// The scopes of an access token, or those that were granted at the sign-in of an ID token.
        private var scopes: Scopes {
            if verified.use == .access { return Scopes(verified.claims["scope"]?.string ?? "") }
            return holder?.session.grant.scopes ?? Scopes(Scopes.usual)
        }

        func limits(_ decision: DelegationRule.Decision, end: Int64) -> DelegationRule.Limits {
            DelegationRule.Limits(
                audiences: token.audiences, scopes: scopes, clientId: token.clientId, delegations: decision.delegations,
                mustNarrow: decision.mustNarrow, end: end, subjectEnd: token.expiresAt)
        }
    }

    private struct Draft {
        let grant: DelegationRule.Grant
        let chain: ActorChain
        let mayAct: JSONObject?
        let clientId: String
    }

    private func issue(
        to token: VerifiedTenantToken, _ attempt: Attempt, _ decide: (Subject, TenantRecord, Transaction) throws -> Draft
    ) throws -> Issued {
        let (id, now) = (context.random.uuid(), attempt.now)
        let (draft, payload, key) = try context.database.write { tx in
            let tenant = try configurations.tenant(token.tenantId, in: tx)
            try tenant.requireEnabled()
            let isOfTest = context.isTesting && token.sessionId == SessionRecord.ofTestTokens
            let holder = isOfTest ? nil : try AuthenticatedAccount(token, in: tx)
            let end = min(token.expiresAt, tenant.tokens.end(ofSessionFrom: token.authenticatedAt) ?? .max)
            let subject = Subject(token: ExchangedToken(token), verified: token, holder: holder, end: end)
            let draft = try decide(subject, tenant, tx)
            try attempt.within(tx)
            guard let key = try configurations.signingKeys.ring(of: .tenant(tenant.id), in: tx).active(at: now) else {
                throw TenantNotFound(tenantId: tenant.id)
            }
            try context.audit.record(event(token, draft, id, attempt), at: now, in: tx)
            return (draft, claims(of: subject, draft, id, at: now), key)
        }
        return Issued(
            token: try key.accessSigner.sign(payload), expiresAt: draft.grant.expiresAt, scope: draft.grant.scopes.text)
    }

    /// - Throws: `TokenRevoked`.
    private func requireStanding(of chain: ActorChain, at now: Int64, in tx: Transaction) throws {
        try TenantTokenVerifier(context: context, configurations: configurations).checkStanding(of: chain, at: now, in: tx)
    }

    private func event(_ token: VerifiedTenantToken, _ draft: Draft, _ id: String, _ attempt: Attempt) -> AuditEvent {
        var event = AuditEvent(attempt.method, attempt.call, tenant: token.tenantId, subject: token.accountId)
        event.details["sessionId"] = .string(token.sessionId)
        event.details["tokenId"] = .string(id)
        event.details["audience"] = .array(draft.grant.audiences.map { .string($0) })
        event.details["scope"] = .string(draft.grant.scopes.text)
        event.details["act"] = draft.chain.claim
        event.details["mayAct"] = draft.mayAct.map { .object($0) }
        return event
    }

    // MARK: Claims

    private func claims(of subject: Subject, _ draft: Draft, _ id: String, at now: Int64) -> [UInt8] {
        let token = subject.verified
        var claims: JSONObject = [
            "iss": .string(token.issuer),
            "aud": draft.grant.audiences.count == 1
                ? .string(draft.grant.audiences[0]) : .array(draft.grant.audiences.map { .string($0) }),
            "sub": .string(token.accountId), "sid": .string(token.sessionId),
            "auth_time": .number(JSONNumber(token.authenticatedAt)), "iat": .number(JSONNumber(now)),
            "exp": .number(JSONNumber(draft.grant.expiresAt)), "jti": .string(id), "client_id": .string(draft.clientId),
            "scope": .string(draft.grant.scopes.text),
        ]
        for name in ["amr", "acr"] { claims[name] = token.claims[name]?.value }
        claims["act"] = draft.chain.claim
        claims["may_act"] = draft.mayAct.map { .object($0) }
        claims["mintmark"] = draft.chain.sessions
        // As in every access token: claims of the session take precedence over those of the account, and none replaces a claim above.
        for own in [subject.holder?.session.claims, subject.holder?.account.claims] {
            for (name, value) in own?.members ?? [] where claims[name] == nil && !TenantTokenClaims.isReserved(name) {
                claims[name] = value
            }
        }
        return JSONValue.object(claims).bytes
    }
}
