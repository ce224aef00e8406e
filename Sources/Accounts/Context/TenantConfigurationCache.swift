import Contract
import ServiceContext
import SigningKeys
import Storage

/// Tenants and their identity providers, cached for one store epoch.
///
/// A class, so that passing it on copies one reference.
public final class TenantConfigurationCache: Sendable {
    private let tenants = EpochCache<TenantRecord>()
    private let idps = EpochCache<IdpRecord>()
    package let signingKeys: SigningKeys

    public init(signingKeys: SigningKeys) { self.signingKeys = signingKeys }

    /// - Throws: `TenantNotFound`.
    package func tenant(_ id: String, in tx: Transaction) throws -> TenantRecord {
        guard let tenant = try knownTenant(id, in: tx) else { throw TenantNotFound(tenantId: id) }
        return tenant
    }

    /// Returns the tenant, or `nil` if it does not exist.
    package func knownTenant(_ id: String, in tx: Transaction) throws -> TenantRecord? {
        try tenants.value(for: id, in: tx) { try tx.tenant(id) }
    }

    /// - Throws: `TenantNotFound`, `IdpNotFound`.
    func idp(_ providerId: String, of tenantId: String, in tx: Transaction) throws -> IdpRecord {
        let tenant = try tenant(tenantId, in: tx)
        guard let known = try knownIdp(providerId, of: tenant.id, in: tx) else {
            throw IdpNotFound(tenantId: tenant.id, providerId: providerId)
        }
        return known
    }

    /// Returns those of `providers` that exist in the tenant and are enabled.
    func usableProviders(among providers: [String], of tenantId: String, in tx: Transaction) throws -> [String] {
        try providers.filter { id in try knownIdp(id, of: tenantId, in: tx)?.settings.enabled ?? false }
    }

    /// Returns the provider of a tenant that exists, or `nil` if the tenant does not have it.
    private func knownIdp(_ providerId: String, of tenantId: String, in tx: Transaction) throws -> IdpRecord? {
        // The ID of a tenant contains no slash.
        try idps.value(for: "\(tenantId)/\(providerId)", in: tx) { try tx.idp(providerId, of: tenantId) }
    }
}
