/// The error of a malformed policy.
struct PolicyMalformed: Error, Hashable, Sendable {
    /// The location in the policy, as a JSON Pointer (RFC 6901).
    let pointer: String
    let reason: String
}
