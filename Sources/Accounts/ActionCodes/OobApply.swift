import Contract
import ServiceContext
import Storage

extension OobService {
    /// Performs the action of a code, which can be used once.
    ///
    /// - Throws: `ActionCodeInvalid`, `ActionCodeExpired`, `InvalidPassword`, `PasswordNotAccepted`, `UserAlreadyExists`,
    ///   `AccountDisabled`.
    public func apply(_ request: OobApply.Params, _ call: any CallContext) throws -> OobApply.Result {
        let now = context.clock.now
        let name = OobApply.info.name
        let record = try context.database.read { try $0.validActionCode(request.code, at: now) }
        guard record.purpose != .signIn, let accountId = record.accountId else {
            throw ActionCodeInvalid(reason: "It signs in: call signIn.withLink.", next: "signIn.withLink")
        }
        var change = AccountUpdate.Params(accountId: accountId)
        change.emailVerified = true
        switch (record.purpose, request.newPassword) {
        case (.passwordReset, let password?): change.password = password
        case (.passwordReset, nil): throw InvalidParams.newPassword(isMissing: true)
        case (_, .some): throw InvalidParams.newPassword(isMissing: false)
        case (.changeEmail, nil): change.username = record.newEmail
        case (.revertEmail, nil): change.username = record.email
        default: break
        }
        let prepared = try account.prepare(change, by: name, call)
        try context.database.write { tx in
            try tx.lock([accountId])
            let record = try tx.validActionCode(request.code, at: now)
            guard try tx.useActionCode(request.code), let before = try tx.account(accountId) else { throw ActionCodeInvalid() }
            if before.isDisabled { throw AccountDisabled(accountId: nil) }
            let isAddress = before.email.map(Username.fold) == record.email
            guard isAddress || record.purpose == .revertEmail else {
                throw ActionCodeInvalid(reason: "The account now has another email address.", next: nil)
            }
            let tenant = try configurations.tenant(record.tenantId, in: tx)
            if record.purpose == .passwordReset {
                if !tenant.localAccountMethod.permitsPasswords { throw PasswordNotAccepted() }
                try forget(before, tenant, by: name, at: now, in: tx)
            }
            _ = try account.apply(prepared, by: name, call, in: tx)
            try tx.deleteActionCodes(of: accountId, record.purpose)
            try tx.endFlows(of: accountId)
            guard let after = try tx.account(accountId) else { throw ActionCodeInvalid() }
            try notify(record, from: before, AccountChange(after, tenant, by: name, at: now), in: tx)
        }
        return OobApply.Result(purpose: record.purpose, email: record.newEmail ?? record.email, accountId: accountId)
    }

    /// Removes the logins and passkeys that another user may have added before the address was proved.
    private func forget(_ account: AccountRecord, _ tenant: TenantRecord, by method: String, at now: Int64, in tx: Transaction) throws {
        for login in try tx.accountLogins(of: account.id) {
            try context.notify(.providerUnlinked, AccountChange(account, tenant, by: method, at: now), what: login.providerId, in: tx)
        }
        try tx.deleteAccountLogins(of: account.id)
        try tx.deletePasskeys(of: account.id)
    }

    private func notify(
        _ record: ActionCodeRecord, from before: AccountRecord, _ change: AccountChange, in tx: Transaction
    ) throws {
        switch record.purpose {
        case .passwordReset: try context.notify(.passwordResetNotice, change, in: tx)
        case .changeEmail, .revertEmail:
            guard let left = before.email, let gained = change.account.email, Username.fold(left) != Username.fold(gained) else { return }
            // After it was undone, a change gives no further right to undo it.
            if record.purpose == .revertEmail {
                try context.notify(.addressChanged, change, to: left, in: tx)
            } else {
                try context.notifyOfChange(from: left, change, in: tx)
            }
            try context.notify(.addressChanged, change, to: gained, in: tx)
        case .verifyEmail, .signIn: break
        }
    }
}

extension InvalidParams {
    static func newPassword(isMissing: Bool) -> InvalidParams {
        InvalidParams(
            "/newPassword", isMissing ? "is required for a code that resets a password" : "is only for a code that resets a password")
    }

    static func newEmail(isMissing: Bool) -> InvalidParams {
        InvalidParams(
            "/newEmail", isMissing ? "is required if `purpose` is `changeEmail`" : "is allowed only if `purpose` is `changeEmail`")
    }

    static let continueUrl = InvalidParams(
        "/continueUrl", "must be an absolute URL with https, with http on this machine, or with the scheme of an app")

    private init(_ pointer: String, _ message: String) {
        self.init(violations: [Violation(pointer: pointer, rule: "required", message: "\(pointer.dropFirst()) \(message).")])
    }
}
