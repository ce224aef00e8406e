import Accounts
import Contract
import Storage

extension Transaction {
    /// Reads the stored records that affect the import of an account.
    func importFacts(_ draft: ImportDraft) throws -> ImportRule.Facts {
        let (id, tenantId) = (draft.account.id, draft.account.tenantId)
        var facts = ImportRule.Facts()
        if draft.hasOwnId {
            facts.owner = try queryOne("SELECT id, tenant_id FROM account WHERE id = $1", id) {
                ImportRule.Facts.Owner(id: $0.string(0), tenantId: $0.string(1))
            }
            if facts.owner == nil {
                facts.survivorId = try queryOne("SELECT survivor_id FROM merged_account WHERE id = $1", id) { $0.string(0) }
            }
        }
        if let address = draft.address {
            facts.addressOwner = try queryOne(
                "SELECT account_id FROM account_name WHERE tenant_id = $1 AND kind = 'email' AND name = $2", tenantId, address
            ) { $0.string(0) }
        }
        if let number = draft.phoneNumber { facts.phoneOwner = try account(withPhoneNumber: number, in: tenantId)?.id }
        facts.loginOwners = try draft.logins.map { login in
            try owner(ofLogin: login.record.subject, at: login.record.providerId, in: tenantId)
        }
        facts.passkeyOwners = try draft.passkeys.map { try passkey($0.credentialId, in: tenantId)?.accountId }
        return facts
    }

    /// Adds an account with its logins and factors.
    ///
    /// - Throws: `SerializationConflict` if a concurrent transaction has just taken its address or one of its logins.
    func insert(_ account: AccountRecord, _ logins: [AccountLogin], _ factors: [FactorRecord]) throws {
        guard try insert(account) else { throw SerializationConflict() }
        try add(logins, factors, to: account)
    }

    /// Replaces an account with its logins and factors, and ends its sessions and pending flows.
    ///
    /// - Throws: `SerializationConflict` if a concurrent transaction has just taken its address or one of its logins.
    func replace(with account: AccountRecord, _ logins: [AccountLogin], _ factors: [FactorRecord]) throws {
        if account.username == nil { try releaseNames(of: account.id) }
        if let address = account.username, try !rename(account, to: address) { throw SerializationConflict() }
        try update(account)
        try deleteAccountLogins(of: account.id)
        try deletePasskeys(of: account.id)
        try deleteFactors(of: account.id)
        _ = try deleteSessions(of: account.id)
        try endFlows(of: account.id)
        try clearLockout(of: account.lockoutSubject)
        try add(logins, factors, to: account)
    }

    /// Adds the passkeys of an imported account. Passkeys that have different user handles keep them; the first one is that of new
    /// registrations.
    ///
    /// - Throws: `SerializationConflict` if a concurrent transaction has just taken one of them.
    func add(_ passkeys: [PasskeyRecord], of accountId: String) throws {
        for var passkey in passkeys {
            passkey.accountId = accountId
            guard try insert(passkey, attestationObject: []) else { throw SerializationConflict() }
        }
        if let first = passkeys.first { try setUserHandle(first.userHandle, of: accountId) }
    }

    private func add(_ logins: [AccountLogin], _ factors: [FactorRecord], to account: AccountRecord) throws {
        for login in logins { if try !insert(login, of: account) { throw SerializationConflict() } }
        for factor in factors { try insert(factor) }
    }
}
