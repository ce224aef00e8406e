/// A policy that is not in the policy language, and where.
struct PolicyMalformed: Error, Hashable, Sendable {
    /// An RFC 6901 pointer into the policy.
    let pointer: String
    let reason: String
}
