import JSON
import ServiceContext
import Storage

/// The tenants of the store as login providers of pools. Pools access tenants only through this protocol.
public protocol TenantLogins: Sendable {
    /// Whether the tenant exists.
    func exists(_ tenantId: String, in tx: Transaction) throws -> Bool

    /// Verifies an ID token of a tenant: its signature, its claims, and that its session and account are valid.
    ///
    /// - Parameter context: The context of the call, with its access to the store.
    /// - Throws: A `Token…` error that names the failed check; `AccountMerged`.
    func verify(
        idToken: String, tenantId: String, now: Int64, in context: ServiceContext
    ) throws -> (accountId: String, claims: JSONNode)
}
