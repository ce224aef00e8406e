import Contract
import Storage

/// The pool identities that are linked to a tenant's accounts. Accounts access pools only through this protocol.
public protocol LinkedIdentities: Sendable {
    /// Decides how the identities of two accounts combine. Writes nothing.
    ///
    /// - Parameters:
    ///   - sourceId: The account that is merged.
    ///   - targetId: The account that remains.
    func merge(
        of sourceId: String, into targetId: String, tenantId: String, policy: MergePolicy, in tx: Transaction
    ) throws -> any LinkedIdentityMerge

    /// The identities whose logins include an account, ordered by pool.
    func identities(ofAccount accountId: String, tenantId: String, in tx: Transaction) throws -> [LinkedIdentity]
}

/// A decided merge of identities.
public protocol LinkedIdentityMerge {
    /// The effect of the merge on each identity.
    var changes: [MergedIdentity] { get }
    /// The pools in which both accounts have logins that exclude each other.
    var conflicts: [MergeConflict] { get }

    /// Writes the decision.
    func apply(at now: Int64, in tx: Transaction) throws
}

/// An identity to which an account's ID tokens resolve.
public struct LinkedIdentity: Sendable {
    public let poolId: String
    public let identityId: String
    /// The login providers of the identity's other logins.
    public let otherLoginProviders: [String]

    public init(poolId: String, identityId: String, otherLoginProviders: [String]) {
        self.poolId = poolId
        self.identityId = identityId
        self.otherLoginProviders = otherLoginProviders
    }
}
