import Contract
import Federation
import ServiceContext

extension IdpService {
    /// Creates an identity provider.
    ///
    /// - Throws: `TenantNotFound`, `IdpExists`, `InvalidIdp`.
    public func create(_ request: IdpCreate.Params, _ call: any CallContext) throws -> IdpCreate.Result {
        let now = context.clock.now
        let address = ProviderAddress(
            name: request.providerId, allowsInsecure: request.allowInsecure, allowsPrivateNetwork: request.allowPrivateNetwork)
        try checkIssuer(request.issuer, of: address, call)
        try IdpRules.check(
            request, hasSecret: request.clientSecret != nil, allowsPlainLoopback: context.foreign.allowsPlainLoopback)
        let idp = IdpRecord(request, IdpRecord.seal(request, context.vault), createdAt: now, updatedAt: now)
        try context.database.write { tx in
            _ = try configurations.tenant(request.tenantId, in: tx)
            guard try tx.insert(idp) else { throw IdpExists(tenantId: idp.tenantId, providerId: idp.providerId) }
            try tx.advanceEpoch()
            try context.audit.record(AuditEvent(IdpCreate.info.name, call, idp), at: now, in: tx)
        }
        return idp.answer
    }

    /// Rejects an issuer that is the URL of a discovery document. The error names the issuer in the document.
    ///
    /// - Throws: `InvalidIdp`.
    func checkIssuer(_ issuer: String?, of address: ProviderAddress, _ call: any CallContext) throws {
        guard let issuer, DiscoveryURL.isDocument(issuer) else { return }
        var named: String?
        do {
            let (status, document) = try context.foreign.object(LoginProviderRequest(issuer), of: address, call)
            if status == 200 { named = document["issuer"]?.string }
        } catch is ProviderUnavailable {} catch is ProviderUnusable {}
        throw DiscoveryURL.documentRefused(issuer, named: named)
    }
}

extension IdpRecord {
    /// Creates a record without the client secret in its settings.
    init(_ settings: IdpCreate.Params, _ clientSecret: [UInt8]?, createdAt: Int64, updatedAt: Int64) {
        var settings = settings
        settings.clientSecret = nil
        settings.responseType = settings.responseType ?? .code
        self.init(settings: settings, clientSecret: clientSecret, createdAt: createdAt, updatedAt: updatedAt)
    }
}

extension AuditEvent {
    /// Creates the event for a change of an identity provider.
    init(_ method: String, _ call: any CallContext, _ idp: IdpRecord) {
        self.init(method, call, tenant: idp.tenantId, details: [("providerId", idp.providerId)])
    }
}
