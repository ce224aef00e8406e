import Contract
import Loopback

extension TestService {
    /// Runs an OpenID Connect provider on the loopback address, or stops it.
    ///
    /// - Throws: `PortUnavailable`, `TenantNotFound`, `InvalidParams`.
    public func idp(_ request: TestIdp.Params, _ call: any CallContext) throws -> TestIdp.Result {
        try request.check()
        let issuers = request.issuers ?? []
        try surroundings.database.read { tx in
            for issuer in issuers { _ = try catalogue.tenant(issuer.tenantId ?? issuer.name, in: tx) }
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
        provider.take(issuers)
        let baseUrl = provider.baseURL ?? ""
        let first = issuers.first?.name ?? TenantRecord.defaultId
        return TestIdp.Result(
            baseUrl: baseUrl, running: provider.isRunning, issuer: "\(baseUrl)/\(first)", issuers: provider.addresses)
    }
}
