import Contract
import JSON
import ServiceContext
import Storage

extension AccountService {
    /// Returns what the user of an ID token sees of the account.
    ///
    /// - Throws: the errors of ID token verification.
    public func me(_ request: AccountMe.Params, _ call: any CallContext) throws -> AccountMe.Result {
        let token = try verify(own: request.idToken)
        return try context.database.read { tx in
            guard let account = try tx.account(token.accountId) else { throw try tx.loss(ofAccount: token.accountId) }
            return try account.profile(in: try configurations.tenant(account.tenantId, in: tx), tx)
        }
    }

    /// Changes the attributes that the user of an ID token may change.
    ///
    /// - Throws: `AttributeNotYours`, `InvalidAttributes`; the errors of ID token verification.
    public func updateOwn(_ request: AccountUpdateOwn.Params, _ call: any CallContext) throws -> AccountUpdateOwn.Result {
        let now = context.clock.now
        let token = try verify(own: request.idToken)
        return try context.database.write { tx in
            var account = try AuthenticatedAccount(token, in: tx).account
            let tenant = try configurations.tenant(account.tenantId, in: tx)
            let changed = try OwnAttributes.change(request.attributes, of: account.attributes, by: tenant)
            if changed != account.attributes {
                account.attributes = changed
                account.updatedAt = now
                try tx.update(account)
                try context.audit.record(
                    AuditEvent(AccountUpdateOwn.info.name, call, tenant: tenant.id, subject: account.id), at: now, in: tx)
            }
            return try account.profile(in: tenant, tx)
        }
    }

    private func verify(own idToken: String) throws -> VerifiedTenantToken {
        try TenantTokenVerifier(context: context, configurations: configurations).verify(
            idToken, .init(use: .id), now: context.clock.now)
    }
}

/// Decides which attributes of an account the user can read and change.
enum OwnAttributes {
    /// The attributes that a user can change unless the tenant forbids it.
    private static let usuallyWritable = [BuiltInAttribute.displayName, .givenName, .surname].map(\.rawValue)

    static func isReadable(_ name: String, by definitions: [TenantAttribute]) -> Bool {
        definitions.first { $0.name == name }?.userReadable ?? true
    }

    static func isWritable(_ definition: TenantAttribute) -> Bool {
        definition.userWritable ?? usuallyWritable.contains(definition.name)
    }

    /// Returns the attributes of the account after a change by the user.
    ///
    /// - Throws: `AttributeNotYours`, `InvalidAttributes`.
    static func change(_ given: JSONObject, of present: JSONObject, by tenant: TenantRecord) throws -> JSONObject {
        for (name, value) in given.members {
            // An unknown name fails below, with similar names.
            guard let definition = tenant.attributes.first(where: { $0.name == name }) else { continue }
            if !isWritable(definition) { throw AttributeNotYours(name: name, reason: "only the developer can change it") }
            if definition.required, value.isNull || value.string == "" {
                throw AttributeNotYours(name: name, reason: "it is required and cannot be removed")
            }
        }
        let accepted = try tenant.acceptChange(given, of: present)
        var changed = present
        for name in given.names { changed[name] = accepted[name] }
        return changed
    }
}

extension AccountRecord {
    /// The account as its user sees it.
    fileprivate func profile(in tenant: TenantRecord, _ tx: Transaction) throws -> OwnProfile {
        var readable = JSONObject()
        for (name, value) in attributes.members where OwnAttributes.isReadable(name, by: tenant.attributes) { readable[name] = value }
        return OwnProfile(
            accountId: id, username: username, email: email, emailVerified: isEmailVerified, attributes: EncodedObject(readable),
            factors: try tx.factors(of: id).map { FactorKind(rawValue: $0.kind.rawValue) ?? .totp }, createdAt: createdAt,
            lastSignInAt: lastSignInAt)
    }
}
