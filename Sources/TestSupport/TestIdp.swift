import Accounts
import Contract
import JSON
import Loopback

extension TestService {
    /// Starts or stops an OpenID Connect provider on the loopback address.
    ///
    /// - Throws: `PortUnavailable`, `TenantNotFound`, `InvalidParams`.
    public func idp(_ request: TestIdp.Params, _ call: any CallContext) throws -> TestIdp.Result {
        try request.check()
        let issuers = request.issuers ?? []
        try context.database.read { tx in
            for case let id? in issuers.map(\.tenantId) { _ = try configurations.tenant(id, in: tx) }
        }
        if request.stop {
            provider.stop()
        }
        do {
            let port = request.port.map { UInt16($0) }
            if request.stop { try provider.choosePlace(port: port) } else { try provider.start(port: port) }
        } catch {
            throw PortUnavailable(port: Int64(error.port), reason: error.reason)
        }
        for issuer in issuers where issuer.tenantId == nil { try makeTenant(issuer.name, call) }
        provider.take(issuers)
        let addresses = provider.addresses(first: issuers.map(\.name))
        return TestIdp.Result(
            baseUrl: provider.baseURL ?? "", running: provider.isRunning, issuer: addresses[0].issuer,
            discoveryUrl: addresses[0].discoveryUrl, jwksUrl: addresses[0].jwksUrl, issuers: addresses)
    }

    /// Creates the tenant of an issuer without `tenantId`, unless it exists. It uses the signing algorithm of the default tenant, so that
    /// its tokens differ only in issuer and keys.
    ///
    /// - Throws: `TenantNotFound` if the name is not a valid tenant ID.
    private func makeTenant(_ name: String, _ call: any CallContext) throws {
        let (known, usual) = try context.database.read { tx in
            (try configurations.knownTenant(name, in: tx), try configurations.knownTenant(TenantRecord.defaultId, in: tx))
        }
        guard known == nil else { return }
        var settings: JSONObject = ["tenantId": .string(name)]
        settings["signingAlgorithm"] = usual.map { .string($0.settings.signingAlgorithm.rawValue) }
        guard let params = TenantCreate.Params(record: .object(settings)) else { throw TenantNotFound(tenantId: name) }
        do { _ = try TenantService(context, configurations).create(params, call) } catch is TenantExists {
            // Another process has created it in the meantime.
        }
    }
}
