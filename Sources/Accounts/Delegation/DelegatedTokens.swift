import Contract
import JSON
import ServiceContext
import SigningKeys
import Storage

/// Issues access tokens in exchange for other tokens (RFC 8693).
package struct DelegatedTokens: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache

    package init(context: AccountsContext, configurations: TenantConfigurationCache) {
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
        _ token: VerifiedTenantToken, for wish: DelegationRule.Wish, _ attempt: Attempt
    ) throws -> Issued {
        try issue(by: attempt) { tx in
            let tenant = try configurations.tenant(token.tenantId, in: tx)
            let subject = try subject(of: token, by: tenant, in: tx)
            return (tenant, subject, try draft(for: subject, wish, by: tenant, attempt, in: tx))
        }
    }

    /// Exchanges the token of a trusted issuer for an access token of the account that is linked with its subject.
    ///
    /// - Throws: The errors of `token.exchange`.
    package func exchange(
        _ token: ExchangedToken, ofTenant tenantId: String, clientId: String?, for wish: DelegationRule.Wish, _ attempt: Attempt
    ) throws -> Issued {
        let signIn = AssertedSignIn(context, configurations, method: attempt.method, call: attempt.call, now: attempt.now)
        return try issue(by: attempt, signIn) { tx in
            let tenant = try configurations.tenant(tenantId, in: tx)
            try tenant.requireEnabled()
            let entry = try tenant.subjectIssuer(token.issuer)
            let application = try tenant.knownApplication(clientId)
            let account = try signIn.account(of: token, entry, in: tenant, in: tx)
            if let actor = wish.actor, actor.issuer == context.realm.issuer(of: .tenant(tenant.id)), actor.subject == account.id {
                throw ActorNotAllowed(reason: "the actor is the subject itself")
            }
            let vouched = VouchedToken(token: token, entry: entry, application: application)
            var subject = signIn.subject(account, vouched, of: tenant)
            let draft = try draft(for: subject, wish, by: tenant, attempt, in: tx)
            try signIn.begin(&subject, until: draft.grant.expiresAt, scopes: draft.grant.scopes, of: tenant, in: tx)
            return (tenant, subject, draft)
        }
    }

    private func draft(
        for subject: DelegatedSubject, _ wish: DelegationRule.Wish, by tenant: TenantRecord, _ attempt: Attempt, in tx: Transaction
    ) throws -> Draft {
        let actor = wish.actor
        let decision = try DelegationRule.decide(
            subject.token, actor, tenant.settings.delegations ?? [], of: context.realm.issuer(of: .tenant(tenant.id)))
        try requireStanding(of: decision.chain, at: attempt.now, in: tx)
        let grant = try DelegationRule.grant(
            wish, subject.limits(decision, end: min(subject.end, actor?.expiresAt ?? .max)), by: tenant, at: attempt.now)
        return Draft(
            grant: grant, chain: decision.chain, mayAct: nil,
            clientId: (decision.mustNarrow ? nil : actor?.ownClientId) ?? subject.clientId ?? tenant.id)
    }

    /// Issues a token with which an actor may act for the user.
    ///
    /// - Throws: The errors of `token.delegate`.
    package func delegate(
        _ token: VerifiedTenantToken, to actor: DelegationActor, for wish: DelegationRule.Wish, _ attempt: Attempt
    ) throws -> Issued {
        try issue(by: attempt) { tx in
            let tenant = try configurations.tenant(token.tenantId, in: tx)
            let subject = try subject(of: token, by: tenant, in: tx)
            let issuer = actor.iss ?? token.issuer
            if issuer == token.issuer {
                if actor.sub == token.accountId { throw ActorNotAllowed(reason: "the actor is the user itself") }
                guard try tx.account(actor.sub)?.tenantId == tenant.id else { throw AccountNotFound(accountId: actor.sub) }
            }
            let decision = DelegationRule.Decision(chain: ActorChain(), delegations: nil, mustNarrow: false)
            let grant = try DelegationRule.grant(wish, subject.limits(decision, end: subject.end), by: tenant, at: attempt.now)
            var mayAct: JSONObject = ["sub": .string(actor.sub), "iss": .string(issuer)]
            mayAct["client_id"] = actor.clientId.map { .string($0) }
            return (tenant, subject, Draft(grant: grant, chain: decision.chain, mayAct: mayAct, clientId: subject.clientId ?? tenant.id))
        }
    }

    // MARK: Subject

    /// Reads the user of a token in the transaction of the exchange.
    func subject(of token: VerifiedTenantToken, by tenant: TenantRecord, in tx: Transaction) throws -> DelegatedSubject {
        try tenant.requireEnabled()
        let isOfTest = context.isTesting && token.sessionId == SessionRecord.ofTestTokens
        let holder = isOfTest ? nil : try AuthenticatedAccount(token, in: tx)
        let end = min(token.expiresAt, tenant.tokens.end(ofSessionFrom: token.authenticatedAt) ?? .max)
        return DelegatedSubject(token, holder, end: end)
    }

    struct Draft {
        let grant: DelegationRule.Grant
        let chain: ActorChain
        let mayAct: JSONObject?
        let clientId: String
    }

    func issue(
        by attempt: Attempt, _ signIn: AssertedSignIn? = nil,
        _ decide: (Transaction) throws -> (TenantRecord, DelegatedSubject, Draft)
    ) throws -> Issued {
        let (id, now) = (context.random.uuid(), attempt.now)
        func body(_ tx: Transaction) throws -> (Draft, [UInt8], StoredKey) {
            let (tenant, subject, draft) = try decide(tx)
            try attempt.within(tx)
            guard let key = try configurations.signingKeys.ring(of: .tenant(tenant.id), in: tx).active(at: now) else {
                throw TenantNotFound(tenantId: tenant.id)
            }
            try context.audit.record(event(of: subject, draft, tokenId: id, tenant: tenant, attempt), at: now, in: tx)
            return (draft, claims(of: subject, draft, id, issuer: context.realm.issuer(of: .tenant(tenant.id)), at: now), key)
        }
        let (draft, payload, key) =
            if let signIn { try signIn.gate.write { try body($0) } } else { try context.database.write { try body($0) } }
        return Issued(
            token: try key.accessSigner.sign(payload), expiresAt: draft.grant.expiresAt, scope: draft.grant.scopes.text)
    }

    /// - Throws: `TokenRevoked`.
    func requireStanding(of chain: ActorChain, at now: Int64, in tx: Transaction) throws {
        try TenantTokenVerifier(context: context, configurations: configurations).checkStanding(of: chain, at: now, in: tx)
    }

    private func event(
        of subject: DelegatedSubject, _ draft: Draft, tokenId: String, tenant: TenantRecord, _ attempt: Attempt
    ) -> AuditEvent {
        var event = AuditEvent(attempt.method, attempt.call, tenant: tenant.id, subject: subject.accountId)
        event.details["sessionId"] = .string(subject.sessionId)
        event.details["tokenId"] = .string(tokenId)
        event.details["audience"] = .array(draft.grant.audiences.map { .string($0) })
        event.details["scope"] = .string(draft.grant.scopes.text)
        event.details["act"] = draft.chain.claim
        event.details["mayAct"] = draft.mayAct.map { .object($0) }
        for (name, value) in subject.facts { event.details[name] = .string(value) }
        return event
    }

    // MARK: Claims

    private func claims(of subject: DelegatedSubject, _ draft: Draft, _ id: String, issuer: String, at now: Int64) -> [UInt8] {
        var claims: JSONObject = [
            "iss": .string(issuer),
            "aud": draft.grant.audiences.count == 1
                ? .string(draft.grant.audiences[0]) : .array(draft.grant.audiences.map { .string($0) }),
            "sub": .string(subject.accountId), "sid": .string(subject.sessionId),
            "auth_time": .number(JSONNumber(subject.authenticatedAt)), "iat": .number(JSONNumber(now)),
            "exp": .number(JSONNumber(draft.grant.expiresAt)), "jti": .string(id), "client_id": .string(draft.clientId),
            "scope": .string(draft.grant.scopes.text),
        ]
        for (name, value) in subject.methods.members { claims[name] = value }
        claims["act"] = draft.chain.claim
        claims["may_act"] = draft.mayAct.map { .object($0) }
        claims["mintmark"] = draft.chain.sessions
        // As in every access token: claims of the session take precedence over those of the account, and none replaces a claim above.
        for own in subject.ownClaims {
            for (name, value) in own.members where claims[name] == nil && !CustomClaims.isReserved(name) {
                claims[name] = value
            }
        }
        return JSONValue.object(claims).bytes
    }
}
