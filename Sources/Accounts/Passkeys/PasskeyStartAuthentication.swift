import Contract
import ServiceContext
import Storage

extension PasskeyService {
    /// Starts a sign-in or a reauthentication with a passkey.
    ///
    /// - Throws: the errors of ID token verification; `TenantNotFound`, `PasskeysOff`, `PasskeyNotSet`, `InvalidUsername`, `UserNotFound`,
    ///   `TooManyFromClient`.
    public func startAuthentication(
        _ request: PasskeyStartAuthentication.Params, _ call: any CallContext
    ) throws -> PasskeyStartAuthentication.Result {
        let now = context.clock.now
        var token: VerifiedTenantToken?
        var username: Username?
        switch request.account {
        case .idToken(let idToken): token = try verify(idToken, at: now)
        case .username(let name):
            if request.conditional {
                let message =
                    "conditional cannot be combined with username, because the browser offers the passkeys of all users. Omit one."
                throw InvalidParams(violations: [Violation(pointer: "/username", rule: "unknown", message: message)])
            }
            username = try Username(name)
        case nil: break
        }
        let tenantId = token?.tenantId ?? request.tenantId
        let tenant = try context.database.read { try configurations.enabledTenant(tenantId, in: $0) }
        let settings = try tenant.passkeySettings()
        let client = try flows.admit(request.client, tenantId: tenantId, at: now)
        let (draws, decoys) = (PasskeyDraws(context), PasskeyDecoys(context))
        let outcome = try context.database.write { tx -> Result<(StoredCeremony, [PasskeyOptions.Descriptor]), UserNotFound> in
            var ceremony = StoredCeremony(
                id: draws.id, tenantId: tenant.id, kind: .authentication, challenge: "",
                expiresAt: now
                    + (request.conditional ? StoredCeremony.conditionalLifetimeSeconds : StoredCeremony.lifetimeSeconds))
            var allowed: [PasskeyOptions.Descriptor] = []
            if let token {
                ceremony.accountId = try AuthenticatedAccount(token, in: tx).account.id
                allowed = try usable(of: token.accountId, settings, in: tx)
                if allowed.isEmpty { throw PasskeyNotSet(next: PasskeyStartRegistration.info.name) }
                if request.conditional { allowed = [] }
            } else if let username {
                let account = try tx.account(named: username.folded, in: tenant.id)
                let invented = decoys.passkeys(of: username.folded, in: tenant.id)
                allowed = try usable(of: account?.id ?? "", settings, in: tx)
                if !tenant.enumerationProtection {
                    guard account != nil else { return .failure(UserNotFound(in: tenant)) }
                    if allowed.isEmpty { throw PasskeyNotSet(next: SignInStart.info.name) }
                }
                if allowed.isEmpty { allowed = invented }
                ceremony.accountId = account?.id
                ceremony.isByUsername = true
            }
            ceremony.challenge = try draws.challenge(context, in: tx)
            ceremony.isConditional = request.conditional
            ceremony.requiresUserVerification = try tenant.requiresUserVerification()
            ceremony.allowed = allowed.map(\.id)
            try tx.insert(ceremony)
            return .success((ceremony, allowed))
        }
        switch outcome {
        case .failure(let unknown): throw try flows.failed(unknown, by: client, at: now)
        case .success(let (ceremony, allowed)):
            return answer(ceremony, EncodedObject(PasskeyOptions.request(ceremony, settings, allowed: allowed)))
        }
    }

    /// Returns the passkeys of an account that browsers still offer, most recently used first.
    private func usable(of accountId: String, _ settings: PasskeySettings, in tx: Transaction) throws -> [PasskeyOptions.Descriptor] {
        try tx.passkeys(of: accountId).filter { $0.relyingPartyId == settings.relyingPartyId && $0.usage == .signIn }
            .sorted { ($0.lastUsedAt ?? $0.createdAt) > ($1.lastUsedAt ?? $1.createdAt) }.map(PasskeyOptions.Descriptor.init)
    }
}
