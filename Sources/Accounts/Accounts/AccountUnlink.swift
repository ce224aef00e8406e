import Contract
import ServiceContext

extension AccountService {
    /// Unlinks a sign-in method from the account of an ID token. Sessions, address and profile remain.
    ///
    /// - Throws: the errors of ID token verification, `ProviderNotLinked`, `LastProvider`, `RecentSignInRequired`, `SecondFactorNeeded`.
    public func unlink(_ request: AccountUnlink.Params, _ call: any CallContext) throws -> AccountUnlink.Result {
        let (now, name) = (context.clock.now, AccountUnlink.info.name)
        let token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
            request.idToken, .init(use: .id), now: now)
        return try context.database.write(isolation: .serializable) { tx in
            let own = try AuthenticatedAccount(token, in: tx)
            let tenant = try configurations.tenant(token.tenantId, in: tx)
            try tx.requireUnlocked(own.account, tenant, at: now)
            try own.requireSecondFactor(tenant, in: tx)
            var account = own.account
            let passkeys = try tx.passkeys(of: account.id).filter { $0.usage == .signIn }
            let hasPasskey = try tx.passkeys(of: account.id, usable: tenant).contains { $0.usage == .signIn }
            var logins = try tx.accountLogins(of: account.id).map(\.providerId)
            let way = account.ownWayIn
            var usable = try configurations.usableProviders(among: logins, of: account.tenantId, in: tx)
            if !passkeys.isEmpty { logins.append(SignInProof.passkeyProvider) }
            if hasPasskey { usable.append(SignInProof.passkeyProvider) }
            do throws(UnlinkRule.Refusal) {
                try UnlinkRule.check(
                    request.providerId,
                    UnlinkRule.Facts(
                        own: way, providers: logins, usable: usable, isNamedByBackend: account.method == .custom,
                        isRecent: own.isRecent(at: now)), force: request.force)
            } catch {
                switch error {
                case .notLinked: throw ProviderNotLinked(providerId: request.providerId, linked: [way].compactMap { $0 } + logins)
                case .tooOld: throw own.tooOld
                case .last: throw LastProvider(providerId: request.providerId)
                }
            }
            if request.providerId == SignInProof.passkeyProvider {
                for passkey in passkeys { try tx.delete(passkey) }
            } else if request.providerId == way {
                account.password = nil
                account.mustChangePassword = false
                account.method = .federated
                try tx.endFlows(of: account.id)
            } else {
                _ = try tx.deleteAccountLogin(at: request.providerId, of: account.id)
            }
            account.updatedAt = now
            try tx.update(account)
            try context.notify(.providerUnlinked, AccountChange(account, tenant, by: name, at: now), what: request.providerId, in: tx)
            try context.audit.record(
                AuditEvent(name, call, tenant: account.tenantId, subject: account.id, details: [("providerId", request.providerId)]),
                at: now, in: tx)
            return try account.answer(in: tx)
        }
    }
}
