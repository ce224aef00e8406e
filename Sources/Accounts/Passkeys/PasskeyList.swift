import Contract
import ServiceContext
import Storage

extension PasskeyService {
    /// - Throws: the errors of ID token verification; `PasskeysOff`, `CallerNotAllowed`, `AccountNotFound`.
    public func list(_ request: PasskeyList.Params, _ call: any CallContext) throws -> PasskeyList.Result {
        let now = context.clock.now
        let token: VerifiedTenantToken? = if case .idToken(let idToken) = request.account { try verify(idToken, at: now) } else { nil }
        return try context.database.read { tx in
            let account =
                switch request.account {
                case .accountId(let id): try named(id, by: PasskeyList.info.name, call, in: tx).0
                case .idToken: try owner(token!, in: tx).0.account
                }
            return PasskeyList.Result(passkeys: try tx.passkeys(of: account.id).map(\.answer))
        }
    }

    /// - Throws: the errors of ID token verification; `PasskeysOff`, `PasskeyNotFound`, `CallerNotAllowed`, `AccountNotFound`.
    public func rename(_ request: PasskeyRename.Params, _ call: any CallContext) throws -> PasskeyRename.Result {
        let now = context.clock.now
        let token: VerifiedTenantToken? = if case .idToken(let idToken) = request.account { try verify(idToken, at: now) } else { nil }
        return try context.database.write { tx in
            let account: AccountRecord
            let tenant: TenantRecord
            switch request.account {
            case .accountId(let id): (account, tenant) = try named(id, by: PasskeyRename.info.name, call, in: tx)
            case .idToken:
                let own: AuthenticatedAccount
                (own, tenant) = try owner(token!, in: tx)
                account = own.account
            }
            var passkey = try passkey(request.credentialId, of: account, in: tx)
            passkey.name = request.name
            try tx.rename(passkey)
            try context.audit.record(
                AuditEvent(PasskeyRename.info.name, call, tenant: tenant.id, subject: account.id, details: [("credentialId", passkey.id)]),
                at: now, in: tx)
            return PasskeyRename.Result(passkey: passkey.answer)
        }
    }

    /// Deletes a passkey and ends the sessions that began with it.
    ///
    /// - Throws: the errors of ID token verification; `PasskeysOff`, `PasskeyNotFound`, `LastProvider`, `RecentSignInRequired`,
    ///   `SecondFactorNeeded`, `CallerNotAllowed`, `AccountNotFound`.
    public func delete(_ request: PasskeyDelete.Params, _ call: any CallContext) throws -> PasskeyDelete.Result {
        let (now, name) = (context.clock.now, PasskeyDelete.info.name)
        let token: VerifiedTenantToken? = if case .idToken(let idToken) = request.account { try verify(idToken, at: now) } else { nil }
        return try context.database.write(isolation: .serializable) { tx in
            let account: AccountRecord
            let tenant: TenantRecord
            switch request.account {
            case .accountId(let id):
                try tx.lock([id])
                (account, tenant) = try named(id, by: name, call, in: tx)
            case .idToken:
                let own: AuthenticatedAccount
                (own, tenant) = try owner(token!, in: tx)
                account = own.account
                try tx.requireUnlocked(account, tenant, at: now)
                if !own.isRecent(at: now) { throw own.tooOld }
                try own.requireSecondFactor(tenant, in: tx)
            }
            let deleted = try passkey(request.credentialId, of: account, in: tx)
            let left = try tx.passkeys(of: account.id).filter { $0.credentialId != deleted.credentialId }
            if deleted.usage == .secondFactor {
                if !request.force, request.account.isOwner, tenant.settings.mfa == .required,
                    try tx.factors(of: account.id).count == 1
                {
                    throw LastFactor(factorId: FactorRecord.id(ofPasskey: deleted.credentialId))
                }
            } else if !request.force, try !hasOtherWay(account, left, tenant, in: tx) {
                throw LastProvider(providerId: SignInProof.passkeyProvider)
            }
            try tx.delete(deleted)
            if deleted.usage == .secondFactor {
                if try tx.factors(of: account.id).isEmpty { try tx.setRecoveryCodes([], of: account.id) }
                try context.notify(
                    .factorRemoved, AccountChange(account, tenant, by: name, at: now), what: FactorRecord(deleted).noticeName, in: tx)
            } else {
                try context.notify(
                    .providerUnlinked, AccountChange(account, tenant, by: name, at: now), what: SignInProof.passkeyProvider, in: tx)
            }
            try context.audit.record(
                AuditEvent(name, call, tenant: tenant.id, subject: account.id, details: [("credentialId", deleted.id)]), at: now, in: tx)
            return PasskeyDelete.Result(
                passkeys: left.map(\.answer), signals: try signals(of: account, tenant, also: deleted.userHandle, in: tx))
        }
    }

    /// Returns whether the user can sign in without the deleted passkey.
    private func hasOtherWay(
        _ account: AccountRecord, _ passkeys: [PasskeyRecord], _ tenant: TenantRecord, in tx: Transaction
    ) throws -> Bool {
        if account.ownWayIn != nil || account.method == .custom { return true }
        if passkeys.contains(where: { $0.usage == .signIn && $0.relyingPartyId == tenant.settings.passkeys?.relyingPartyId }) {
            return true
        }
        let logins = try tx.accountLogins(of: account.id).map(\.providerId)
        return try !configurations.usableProviders(among: logins, of: tenant.id, in: tx).isEmpty
    }
}

extension PasskeyDelete.Params.Account {
    fileprivate var isOwner: Bool { if case .idToken = self { true } else { false } }
}
