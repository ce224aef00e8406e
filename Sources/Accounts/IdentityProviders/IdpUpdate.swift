import Contract
import ServiceContext
import Storage

extension IdpService {
    /// Changes the given settings of a provider.
    ///
    /// - Throws: `TenantNotFound`, `IdpNotFound`, `InvalidIdp`.
    public func update(_ request: IdpUpdate.Params, _ call: any CallContext) throws -> IdpUpdate.Result {
        let now = context.clock.now
        let address = ProviderAddress(
            name: request.providerId, allowsInsecure: request.allowInsecure ?? false,
            allowsPrivateNetwork: request.allowPrivateNetwork ?? false)
        try checkIssuer(request.issuer, of: address, call)
        let change = IdpDeclaration(request)
        let sealed = change.sealedSecret(context.vault)
        return try context.database.write { tx in
            try tx.lock(["idp/\(request.tenantId)/\(request.providerId)"])
            let before = try tx.existingIdp(request.providerId, of: try configurations.tenant(request.tenantId, in: tx).id)
            let after = try change.over(before, sealed, at: now, allowsPlainLoopback: context.foreign.allowsPlainLoopback)
            try tx.advanceEpoch()
            try tx.update(after)
            try context.audit.record(AuditEvent(IdpUpdate.info.name, call, after), at: now, in: tx)
            return after.answer
        }
    }
}

extension IdpDeclaration {
    init(_ change: IdpUpdate.Params) {
        self.init(
            tenantId: change.tenantId, providerId: change.providerId, clientId: change.clientId, clientSecret: change.clientSecret,
            clientAuthentication: change.clientAuthentication, issuer: change.issuer, displayName: change.displayName,
            enabled: change.enabled, responseType: change.responseType, scopes: change.scopes,
            requiredAcr: change.requiredAcr, maxAuthAgeSeconds: change.maxAuthAgeSeconds, openidOnly: change.openidOnly,
            trustEmail: change.trustEmail, moreClientIds: change.moreClientIds, keys: change.keys, endpoint: change.endpoint,
            allowInsecure: change.allowInsecure, allowPrivateNetwork: change.allowPrivateNetwork)
    }

    package func sealedSecret(_ vault: Vault) -> [UInt8]? {
        IdpRecord.seal(
            IdpCreate.Params(tenantId: tenantId, providerId: providerId, clientId: "", clientSecret: clientSecret), vault)
    }

    /// Merges this change into a record; omitted members keep their value. A client secret is not sent to a new issuer or endpoint. A
    /// caller who can only write settings therefore cannot redirect the secret.
    ///
    /// - Throws: `InvalidIdp`.
    package func over(_ before: IdpRecord?, _ sealed: [UInt8]?, at now: Int64, allowsPlainLoopback: Bool) throws -> IdpRecord {
        let old = before?.settings
        guard let clientId = clientId ?? old?.clientId else {
            throw InvalidIdp(pointer: "/clientId", reason: "a new provider requires it")
        }
        let settings = IdpCreate.Params(
            tenantId: tenantId, providerId: providerId, clientId: clientId,
            clientAuthentication: clientAuthentication ?? old?.clientAuthentication, issuer: issuer ?? old?.issuer,
            displayName: displayName ?? old?.displayName, enabled: enabled ?? old?.enabled ?? true,
            responseType: responseType ?? old?.responseType ?? .code, scopes: scopes ?? old?.scopes,
            requiredAcr: requiredAcr ?? old?.requiredAcr, maxAuthAgeSeconds: maxAuthAgeSeconds ?? old?.maxAuthAgeSeconds,
            openidOnly: openidOnly ?? old?.openidOnly ?? false, trustEmail: trustEmail ?? old?.trustEmail ?? false,
            moreClientIds: moreClientIds ?? old?.moreClientIds, keys: keys ?? old?.keys, endpoint: endpoint ?? old?.endpoint,
            allowInsecure: allowInsecure ?? old?.allowInsecure ?? false,
            allowPrivateNetwork: allowPrivateNetwork ?? old?.allowPrivateNetwork ?? false)
        let isSamePlace = old?.issuer == settings.issuer && old?.endpoint == settings.endpoint
        let secret = sealed ?? (isSamePlace ? before?.clientSecret : nil)
        if secret == nil, before?.clientSecret != nil, settings.responseType == .code,
            settings.clientAuthentication != ClientAuthentication.none
        {
            throw InvalidIdp(
                pointer: "/clientSecret",
                reason: "the client secret is not sent to another issuer or endpoint, so it must be given again, "
                    + "or clientAuthentication must be none")
        }
        try IdpRules.check(settings, hasSecret: secret != nil, allowsPlainLoopback: allowsPlainLoopback)
        return IdpRecord(settings, secret, createdAt: before?.createdAt ?? now, updatedAt: now)
    }
}

extension Transaction {
    /// - Throws: `IdpNotFound`.
    func existingIdp(_ providerId: String, of tenantId: String) throws -> IdpRecord {
        guard let idp = try idp(providerId, of: tenantId) else { throw IdpNotFound(tenantId: tenantId, providerId: providerId) }
        return idp
    }
}
