import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// A tenant of this store as a login provider of a pool. Its issuer, which determines the name of its logins, is stored with it.
extension LoginProvider {
    /// - Throws: `InvalidPoolProvider` for settings that do not apply to tenants.
    static func tenant(_ id: String, _ settings: PoolProviderSettings, in realm: Deployment) throws -> LoginProvider {
        let issuer = realm.issuer(of: .tenant(id))
        let tenant = LoginProvider(tenant: id, issuer: issuer)
        guard settings.clientIds == nil, settings.keys == nil, settings.endpoint == nil, !settings.allowInsecure,
            !settings.allowPrivateNetwork
        else {
            throw InvalidPoolProvider(
                provider: tenant.name, reason: "a tenant has its own keys and client ID. Omit all members other than tenantId.")
        }
        guard tenant.name.utf8.count <= 128 else {
            throw InvalidPoolProvider(provider: tenant.name, reason: "its issuer has more than 128 characters.")
        }
        return tenant
    }

    /// Reads a provider in the form of `stored`; `nil` if it is not a tenant.
    init?(storedTenant node: JSONNode) {
        guard let id = node["tenantId"]?.string, let issuer = node["issuer"]?.string else { return nil }
        self.init(tenant: id, issuer: issuer)
    }

    private init(tenant id: String, issuer: String) {
        name = (try? HTTPURL(issuer)).map { String($0.withoutScheme) } ?? issuer
        kind = .tenant(id: id)
        isSocial = false
        clientIds = [id]
        keys = nil
        endpoint = nil
        allowsInsecure = false
        allowsPrivateNetwork = false
        stored = ["tenantId": .string(id), "issuer": .string(issuer)]
    }

    /// The tenant ID, or `nil` for other providers.
    package var tenantId: String? { if case .tenant(let id) = kind { id } else { nil } }
}

extension TenantLogins {
    /// - Throws: `TenantNotFound` for a provider whose tenant does not exist.
    func requireTenants(of providers: [LoginProvider], in tx: Transaction) throws {
        for id in providers.compactMap(\.tenantId) where try !exists(id, in: tx) { throw TenantNotFound(tenantId: id) }
    }
}
