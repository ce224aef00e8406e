import Contract

/// Authentication contexts: names of a tenant that a request can ask for, and that require a second factor
/// (the tenant setting `authenticationContexts`).
extension TenantRecord {
    /// Returns the requested contexts that the tenant has. Without second factors, it has none.
    func known(_ requested: [String]) -> [String] {
        guard mfa != .off else { return [] }
        return contexts.filter(requested.contains)
    }
}
