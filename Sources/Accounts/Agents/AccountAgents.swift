import Contract
import JSON
import ServiceContext
import Storage

/// Agents: accounts of programs, which another account owns (Sources/Accounts/README.md, "Agents").
extension AccountService {
    /// Creates an agent.
    ///
    /// - Throws: The errors of ID token verification; `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`, `AccountDisabled`,
    ///   `AccountExists`, `AccountIsAgent`, `TooManyAgents`, `ProviderSubjectInUse`, `InvalidAttributes`, `ClaimNameReserved`,
    ///   `ClaimsTooLong`.
    public func createAgent(_ request: AccountCreateAgent.Params, _ call: any CallContext) throws -> AccountCreateAgent.Result {
        let now = context.clock.now
        var token: VerifiedTenantToken?
        switch request.owner {
        case .idToken(let text):
            token = try verified(text, now: now)
            try requireOnlyName(request)
        case .ownerId: try requireDeveloper(call, AccountCreateAgent.info.name)
        }
        let claims = request.claims ?? [:]
        try CustomClaims.check(claims)
        let id = request.accountId ?? context.random.uuid()
        return try context.database.write { tx in
            let owner = try owner(request.owner.id, token, in: tx)
            if owner.isDisabled { throw AccountDisabled(accountId: owner.id) }
            try owner.requireUser("an agent cannot own agents")
            let tenant = try configurations.enabledTenant(owner.tenantId, in: tx)
            if try tx.agents(of: owner.id).count >= AccountRecord.mostAgents {
                throw TooManyAgents(accountId: owner.id, limit: Int64(AccountRecord.mostAgents))
            }
            if try tx.account(id) != nil { throw AccountExists(accountId: id) }
            try tx.requireUnmerged(id)
            let agent = AccountRecord(
                id: id, tenantId: tenant.id, isEmailVerified: false, method: .agent,
                attributes: try tenant.acceptChange(["displayName": .string(request.displayName)], of: [:]), claims: claims,
                createdAt: now, updatedAt: now)
            guard try tx.insert(agent) else { throw AccountExists(accountId: id) }
            try tx.insertAgent(agent, ownedBy: owner.id)
            if let login = request.login {
                let record = AccountLogin(providerId: login.issuer, subject: login.subject, linkedAt: now)
                guard try tx.insert(record, of: agent) else {
                    throw ProviderSubjectInUse(providerId: login.issuer, subject: login.subject)
                }
            }
            var event = AuditEvent(AccountCreateAgent.info.name, call, tenant: tenant.id, subject: id, details: [("ownerId", owner.id)])
            event.details["issuer"] = request.login.map { .string($0.issuer) }
            event.details["issuerSubject"] = request.login.map { .string($0.subject) }
            try context.audit.record(event, at: now, in: tx)
            return try agent.answer(in: tx)
        }
    }

    /// Returns the agents of an account.
    ///
    /// - Throws: The errors of ID token verification; `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`.
    public func listAgents(_ request: AccountListAgents.Params, _ call: any CallContext) throws -> AccountListAgents.Result {
        let now = context.clock.now
        var token: VerifiedTenantToken?
        let id: String
        switch request.owner {
        case .idToken(let text):
            token = try verified(text, now: now)
            id = ""
        case .ownerId(let ownerId):
            try requireDeveloper(call, AccountListAgents.info.name)
            id = ownerId
        }
        return try context.database.read { tx in
            let owner = try owner(id, token, in: tx)
            return AccountListAgents.Result(
                agents: try tx.agents(of: owner.id).compactMap { try tx.account($0)?.answer(in: tx) })
        }
    }

    /// Deletes an agent of the signed-in user.
    ///
    /// - Throws: The errors of ID token verification; `AccountNotFound`, also for an agent of another account.
    public func deleteAgent(_ request: AccountDeleteAgent.Params, _ call: any CallContext) throws -> AccountDeleteAgent.Result {
        let now = context.clock.now
        let token = try verified(request.idToken, now: now)
        try context.database.write { tx in
            let owner = try owner("", token, in: tx)
            guard let agent = try tx.account(request.accountId), try tx.owner(ofAgent: agent.id) == owner.id else {
                throw AccountNotFound(accountId: request.accountId)
            }
            try delete(agent, by: AccountDeleteAgent.info.name, call, at: now, in: tx)
        }
        return AccountDeleteAgent.Result(accountId: request.accountId)
    }

    private func verified(_ idToken: String, now: Int64) throws -> VerifiedTenantToken {
        try TenantTokenVerifier(context: context, configurations: configurations).verify(idToken, .init(use: .id), now: now)
    }

    private func owner(_ id: String, _ token: VerifiedTenantToken?, in tx: Transaction) throws -> AccountRecord {
        if let token { return try AuthenticatedAccount(token, in: tx).account }
        try tx.lock([id])
        guard let account = try tx.account(id) else { throw try tx.absence(of: id) }
        return account
    }

    private func requireDeveloper(_ call: any CallContext, _ method: String) throws {
        if call.isPublicCaller { throw CallerNotAllowed(method: "\(method) by ownerId") }
    }

    /// A user names the agent only. Its ID, its claims and its workload are the developer's decision.
    private func requireOnlyName(_ request: AccountCreateAgent.Params) throws {
        let given: [(String, Bool)] = [
            ("accountId", request.accountId != nil), ("login", request.login != nil), ("claims", request.claims != nil),
        ]
        let violations = given.filter(\.1).map { name, _ in
            Violation(pointer: "/\(name)", rule: "developer", message: "\(name) requires ownerId. Omit it, or use ownerId as developer.")
        }
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
    }
}

extension AccountCreateAgent.Params.Owner {
    fileprivate var id: String { if case .ownerId(let id) = self { id } else { "" } }
}
