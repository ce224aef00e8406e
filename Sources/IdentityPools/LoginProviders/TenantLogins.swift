import JSON
import Storage

/// The tenants of the same store, as the login providers of pools that they are. Pools know tenants only through this protocol.
public protocol TenantLogins: Sendable {
    /// Whether the tenant exists.
    func exists(_ tenantId: String, in tx: Transaction) throws -> Bool

    /// Verifies an ID token of a tenant: its signature, its claims, and that its session and account are valid.
    ///
    /// - Throws: a `Token…` error that names the check that failed, `AccountMerged`.
    func verify(idToken: String, tenantId: String, now: Int64) throws -> (accountId: String, claims: JSONNode)
}
