import Contract
import Messages
import ServiceContext
import Storage

/// Implements the methods `oob.*`: codes and links for actions by email.
public struct OobService: Sendable {
    var context: AccountsContext
    let configurations: TenantConfigurationCache
    var account: AccountService

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache, account: AccountService) {
        self.context = context
        self.configurations = configurations
        self.account = account
    }

    /// Creates a code, and returns or sends it.
    ///
    /// - Throws: `TenantNotFound`, `InvalidUsername`, `UserNotFound`, `AccountDisabled`, `UserAlreadyExists`, `LinkUrlMissing`,
    ///   `TooManyCodes`, `MessageNotSent`, `RefusedByHook`, `HookFailed`, `HooksNotOffered`.
    public func create(_ request: OobCreate.Params, _ call: any CallContext) throws -> OobCreate.Result {
        let now = context.clock.now
        let address = try Username(request.email)
        let newAddress = try request.newEmail.map { try Username($0) }
        if (newAddress != nil) != (request.purpose == .changeEmail) {
            throw InvalidParams.newEmail(isMissing: newAddress == nil)
        }
        if let url = request.continueUrl, !ActionLink.isUsable(url) { throw InvalidParams.continueUrl }
        let code = ActionCodeRecord.newCode(context.random)
        let gate = HookGate(context, isOff: request.returnLink, for: call)
        let (record, tenant) = try gate.write { tx in
            let tenant = try configurations.tenant(request.tenantId, in: tx)
            let account = try subject(of: request, address, tenant, in: tx)
            if let newAddress, let owner = try tx.account(named: newAddress.folded, in: tenant.id), owner.id != account?.id {
                throw UserAlreadyExists(next: "account.find")
            }
            let message = HookMessage(
                purpose: request.purpose.messagePurpose, recipient: .email((newAddress ?? address).typed), language: request.language)
            try gate.decide(about: message, of: tenant, in: tx)
            if !request.returnLink { try tx.countLink(to: newAddress ?? address, of: tenant, at: now) }
            let record = ActionCodeRecord(
                tenantId: tenant.id, purpose: request.purpose, email: address.folded, newEmail: newAddress?.typed, accountId: account?.id,
                createdAt: now, expiresAt: now + request.purpose.lifetimeSeconds)
            try tx.insert(record, code: code)
            try context.audit.record(
                AuditEvent(
                    OobCreate.info.name, call, tenant: tenant.id, subject: account?.id ?? address.folded,
                    details: [("purpose", record.purpose.rawValue)]), at: now, in: tx)
            return (record, tenant)
        }
        let page = tenant.settings.delivery?.linkUrl
        let link = (page ?? request.continueUrl).map {
            ActionLink.url(
                page: $0, record.purpose, code: code, tenantId: tenant.id, continueUrl: page == nil ? nil : request.continueUrl)
        }
        if !request.returnLink {
            guard let link else { throw LinkUrlMissing(tenantId: tenant.id) }
            try send(record, code: code, link: link, tenant, language: request.language)
        }
        return OobCreate.Result(
            purpose: record.purpose, email: record.email, newEmail: record.newEmail, expiresAt: record.expiresAt,
            code: request.returnLink ? code : nil, link: request.returnLink ? link : nil)
    }

    /// Returns the account that a new code is for; `nil` for a sign-in.
    private func subject(
        of request: OobCreate.Params, _ address: Username, _ tenant: TenantRecord, in tx: Transaction
    ) throws -> AccountRecord? {
        if !request.returnLink, tenant.settings.delivery?.linkUrl == nil, request.continueUrl == nil {
            throw LinkUrlMissing(tenantId: tenant.id)
        }
        let account: AccountRecord?
        if let id = request.accountId {
            guard let named = try tx.account(id), named.tenantId == tenant.id else { throw try tx.absence(of: id) }
            account = named
        } else {
            account = try tx.account(named: address.folded, in: tenant.id)
        }
        if account?.isDisabled == true { throw AccountDisabled(accountId: account?.id) }
        if request.purpose == .signIn { return nil }
        guard let account else { throw UserNotFound() }
        return account
    }

    private func send(_ record: ActionCodeRecord, code: String, link: String, _ tenant: TenantRecord, language: String?) throws {
        let message = ActionMessage(
            purpose: record.purpose.messagePurpose, to: record.newEmail ?? record.email, code: code, link: link,
            lifetimeSeconds: record.purpose.lifetimeSeconds, at: record.createdAt)
        try MessageSending(context: context).send(message, language: language, of: tenant)
    }

    /// Returns the action of a code without performing it. The address of a sign-in is not returned: the user must enter it.
    ///
    /// - Throws: `ActionCodeInvalid`, `ActionCodeExpired`.
    public func inspect(_ request: OobInspect.Params, _ call: any CallContext) throws -> OobInspect.Result {
        let now = context.clock.now
        let record = try context.database.read { try $0.validActionCode(request.code, at: now) }
        return OobInspect.Result(
            purpose: record.purpose, tenantId: record.tenantId, email: record.purpose == .signIn ? nil : record.email,
            newEmail: record.newEmail, expiresAt: record.expiresAt)
    }
}

extension OobService: OobHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        copy.account = account.scoped(to: call)
        return copy
    }
}
