import ServiceContext
import Storage

/// The pools, tenants and accounts that own signing keys.
public protocol KeyOwners: Sendable {
    /// The name of the algorithm with which `owner` signs by default, such as `ES256`.
    ///
    /// - Throws: `PoolNotFound`, `TenantNotFound`.
    func algorithm(of owner: KeyOwner, in tx: Transaction) throws -> String
}
