import Contract
import Platform
import Storage

extension PasskeyService {
    /// - Throws: the errors of ID token verification; `TenantNotFound`, `PasskeysOff`, `CallerNotAllowed`, `AccountNotFound`.
    public func signals(_ request: PasskeySignals.Params, _ call: any CallContext) throws -> PasskeySignals.Result {
        let now = context.clock.now
        let token: VerifiedTenantToken? = if case .idToken(let idToken) = request.subject { try verify(idToken, at: now) } else { nil }
        return try context.database.read { tx in
            switch request.subject {
            case .credentialId(let id):
                let tenant = try configurations.tenant(request.tenantId, in: tx)
                let settings = try tenant.passkeySettings()
                let isKnown = try Base64URL.decode(id.utf8).map { try tx.passkey($0, in: tenant.id) != nil } ?? false
                return PasskeySignals.Result(
                    unknownCredential: isKnown ? nil : UnknownCredential(rpId: settings.relyingPartyId, credentialId: id))
            case .accountId(let id):
                let (account, tenant) = try named(id, by: PasskeySignals.info.name, call, in: tx)
                return try signals(of: account, tenant, in: tx)
            case .idToken:
                let (own, tenant) = try owner(token!, in: tx)
                return try signals(of: own.account, tenant, in: tx)
            }
        }
    }

    /// The signals of an account: one element for each user handle, of which there are several after a merge.
    ///
    /// - Parameter handle: The user handle of a passkey that was just deleted.
    func signals(
        of account: AccountRecord, _ tenant: TenantRecord, also handle: [UInt8]? = nil, in tx: Transaction
    ) throws -> AuthenticatorSignals {
        let settings = try tenant.passkeySettings()
        let passkeys = try tx.passkeys(of: account.id).filter { $0.relyingPartyId == settings.relyingPartyId }
        var handles: [[UInt8]] = []
        for handle in [try tx.userHandle(of: account.id), handle].compactMap({ $0 }) + passkeys.map(\.userHandle)
        where !handles.contains(handle) {
            handles.append(handle)
        }
        let names = PasskeyOptions.names(of: account, in: tenant, settings)
        return AuthenticatorSignals(
            allAcceptedCredentials: handles.map { handle in
                AcceptedCredentials(
                    rpId: settings.relyingPartyId, userId: Base64URL.encode(handle),
                    allAcceptedCredentialIds: passkeys.filter { $0.userHandle == handle }.map(\.id))
            },
            currentUserDetails: handles.map {
                PasskeyUserDetails(
                    rpId: settings.relyingPartyId, userId: Base64URL.encode($0), name: names.name, displayName: names.displayName)
            })
    }

    /// - Throws: `TenantNotFound`, `PasskeysOff`.
    public func relatedOrigins(_ request: PasskeyRelatedOrigins.Params, _ call: any CallContext) throws -> PasskeyRelatedOrigins.Result {
        let settings = try context.database.read { try configurations.tenant(request.tenantId, in: $0).passkeySettings() }
        let origins = (settings.origins + (settings.relatedOrigins ?? [])).filter { HTTPURL.Scheme(beginning: $0) == .https }
        return PasskeyRelatedOrigins.Result(
            path: "/.well-known/webauthn", contentType: "application/json", document: .init(origins: origins))
    }
}
