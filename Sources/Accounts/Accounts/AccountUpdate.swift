import Contract
import ServiceContext
import Storage

extension AccountService {
    /// Updates the given members of an account. Disabling an account, and changes of its address or password, end its sessions.
    ///
    /// - Throws: `AccountNotFound`, `AccountMerged`, `InvalidAttributes`, `InvalidUsername`, `UserAlreadyExists`, `InvalidPassword`,
    ///   `InvalidPhoneNumber`, `PhoneNumberInUse`, `ProviderSubjectInUse`, `ClaimNameReserved`, `ClaimsTooLong`, `AccountIsAgent`.
    public func update(_ request: AccountUpdate.Params, _ call: any CallContext) throws -> AccountUpdate.Result {
        try update(request, by: AccountUpdate.info.name, call)
    }

    /// - Parameter method: The name of the calling method.
    package func update(_ request: AccountUpdate.Params, by method: String, _ call: any CallContext) throws -> Account {
        let update = try prepare(request, by: method, call)
        return try context.database.write { try apply(update, by: method, call, in: $0) }
    }

    /// An update that was validated before its transaction.
    struct PreparedUpdate: Sendable {
        let request: AccountUpdate.Params
        /// The time of the update. The clock of a testing store cannot be read in a transaction.
        let now: Int64
        let username: Username?
        let phoneNumber: String?
        /// The encrypted hash of the new password.
        let password: [UInt8]?
    }

    /// Validates an update and hashes its password.
    func prepare(_ request: AccountUpdate.Params, by method: String, _ call: any CallContext) throws -> PreparedUpdate {
        let username = try request.username.map { try Username($0) }
        let phoneNumber = try request.phoneNumber.map { try PhoneNumber.checked($0) }
        if let claims = request.claims { try CustomClaims.check(claims) }
        let password = try request.password.map { try newPassword($0, request, method, call: call) }
        return PreparedUpdate(request: request, now: context.clock.now, username: username, phoneNumber: phoneNumber, password: password)
    }

    /// Makes an update in the transaction of a method.
    func apply(_ update: PreparedUpdate, by method: String, _ call: any CallContext, in tx: Transaction) throws -> Account {
        let (request, now) = (update.request, update.now)
        try tx.lock([request.accountId])
        guard var account = try tx.account(request.accountId), let tenant = try configurations.knownTenant(account.tenantId, in: tx)
        else {
            throw try tx.absence(of: request.accountId)
        }
        try tenant.requireEnabled()
        if update.username != nil || update.password != nil || update.phoneNumber != nil {
            try account.requireUser("it cannot have an address, a phone number or a password")
        }
        let given = request.attributes ?? [:]
        let accepted = try tenant.acceptChange(given, of: account.attributes)
        for name in given.names { account.attributes[name] = accepted[name] }
        account.claims = request.claims ?? account.claims
        account.isDisabled = request.disabled ?? account.isDisabled
        account.updatedAt = now
        try change(&account, by: update, in: tx)
        account.isEmailVerified = request.emailVerified ?? account.isEmailVerified
        if request.mustChangePassword == true, account.password == nil { throw InvalidParams.noPasswordToChange }
        account.mustChangePassword = request.mustChangePassword ?? account.mustChangePassword
        if let moment = request.tokensValidSince {
            account.validAfter = moment
            try tx.deleteSessions(of: account.id, before: moment)
            try tx.endCompletedFlows(of: account.id, before: moment)
        }
        try tx.update(account)
        if update.phoneNumber != nil || request.remove?.contains(.phoneNumber) == true {
            try tx.setPhoneNumber(update.phoneNumber, of: account)
        }
        for providerId in request.unlink ?? [] where try tx.deleteAccountLogin(at: providerId, of: account.id) {
            try tx.insertLoginEvent(.unlinked, providerId, account, by: method, at: now)
        }
        for login in request.link ?? [] {
            try link(login, with: account, at: now, in: tx)
            try tx.insertLoginEvent(.linked, login.providerId, account, by: method, at: now)
        }
        if account.isDisabled { _ = try tx.deleteSessions(of: account.id) }
        try tx.insert(SecurityEventDraft(.accountChanged, by: method, account: (tenant.id, account.id)), at: now)
        try context.audit.record(AuditEvent(method, call, tenant: tenant.id, subject: account.id), at: now, in: tx)
        return try account.answer(in: tx)
    }

    /// Validates and hashes a new password before the transaction.
    ///
    /// - Throws: `AccountNotFound`, `AccountMerged`, `InvalidPassword`.
    private func newPassword(
        _ password: String, _ request: AccountUpdate.Params, _ method: String, call: any CallContext
    ) throws -> [UInt8] {
        let (account, tenant) = try context.database.read { tx in
            guard let account = try tx.account(request.accountId), let tenant = try configurations.knownTenant(account.tenantId, in: tx)
            else { throw try tx.absence(of: request.accountId) }
            return (account, tenant)
        }
        let words = ContextWords(of: account, gaining: request.username, tenant)
        try context.check(NewPassword(text: password, tenant: tenant, words: words, accountId: account.id), by: method, call)
        return try context.passwords.sealed(password, as: account.id)
    }

    /// Changes the address and the password of an account, and ends its sessions if one of them has changed.
    private func change(
        _ account: inout AccountRecord, by update: PreparedUpdate, in tx: Transaction
    ) throws {
        let (remove, now) = (update.request.remove ?? [], update.now)
        var hasChanged = false
        if let username = update.username, username.typed != account.username {
            guard try tx.rename(account, to: username.typed) else { throw UserAlreadyExists(next: "account.find") }
            // Another spelling of the same address is no change.
            if username.folded != account.username.map(Username.fold) {
                account.isEmailVerified = false
                hasChanged = true
            }
            account.username = username.typed
            account.email = username.typed
            if !account.hasOwnWayIn { account.method = account.password == nil ? .code : .password }
        }
        if let password = update.password {
            account.password = password
            account.method = .password
            account.mustChangePassword = false
            try tx.clearLockout(of: account.lockoutSubject)
            hasChanged = true
        }
        if remove.contains(.username), account.username != nil {
            try tx.releaseNames(of: account.id)
            account.username = nil
            account.email = nil
            account.isEmailVerified = false
            hasChanged = true
        }
        if remove.contains(.username) || remove.contains(.password), account.hasOwnWayIn {
            hasChanged = hasChanged || account.password != nil
            account.password = nil
            account.mustChangePassword = false
            account.method = account.username == nil ? .custom : .code
        }
        guard hasChanged else { return }
        account.validAfter = now
        _ = try tx.deleteSessions(of: account.id)
        try tx.endFlows(of: account.id)
    }

    /// Links a login for which the developer vouches.
    ///
    /// - Throws: `ProviderSubjectInUse`.
    private func link(_ login: PortableLogin, with account: AccountRecord, at now: Int64, in tx: Transaction) throws {
        if let owner = try tx.owner(ofLogin: login.subject, at: login.providerId, in: account.tenantId), owner != account.id {
            throw ProviderSubjectInUse(providerId: login.providerId, subject: login.subject)
        }
        _ = try tx.deleteAccountLogin(at: login.providerId, of: account.id)
        let record = AccountLogin(
            providerId: login.providerId, subject: login.subject, email: login.email, displayName: login.displayName,
            photoUrl: login.photoUrl, linkedAt: login.linkedAt ?? now)
        guard try tx.insert(record, of: account) else {
            throw ProviderSubjectInUse(providerId: login.providerId, subject: login.subject)
        }
    }
}

extension Transaction {
    /// Ends the sessions of an account whose sign-in was before `moment`.
    package func deleteSessions(of accountId: String, before moment: Int64) throws {
        let count = try execute("DELETE FROM session WHERE account_id = $1 AND authenticated_at < $2", accountId, moment)
        // The audit record of the change adds the event.
        if count > 0 { remark(accountId) }
    }
}
