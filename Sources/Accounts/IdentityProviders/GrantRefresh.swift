import Contract
import Crypto
import JSON
import Platform
import ServiceContext

/// Refreshes a provider's access token at the token endpoint (RFC 6749 §6). If several calls try, only one calls the provider.
struct GrantRefresh: Sendable {
    let context: AccountsContext
    let idp: IdpRecord
    let kept: StoredGrant

    /// Replaces the stored tokens with the provider's response, or with its refusal. If another call is refreshing them, waits for that
    /// call. The caller must then read the stored tokens again.
    ///
    /// - Returns: Whether the provider was called.
    /// - Throws: `ProviderUnavailable` or `ProviderUnusable`, which leave the stored tokens unchanged.
    func run(_ grant: ProviderGrant, with refreshToken: String, at endpoint: String, _ call: any CallContext) throws -> Bool {
        if let lease = kept.lease,
            let wait = context.grantRefreshes.wait(for: lease, virtualNow: context.isTesting ? context.clock.now : nil)
        {
            try wait.pass(call)
            return false
        }
        let question = try TokenEndpoint.question(
            endpoint, [("grant_type", "refresh_token"), ("refresh_token", refreshToken)], idp, vault: context.vault)
        let lease = Hex.encode(context.random.bytes(16))
        context.grantRefreshes.begin(lease)
        defer { context.grantRefreshes.end(lease) }
        guard try context.database.write({ try $0.lease(kept, to: lease) }) else { return false }
        let fresh: ProviderGrant
        do { fresh = try ask(question, grant, call) } catch {
            try context.database.write { try $0.endLease(lease, of: kept, nil) }
            throw error
        }
        let sealed = kept.seal(fresh, context.vault)
        try context.database.write { try $0.endLease(lease, of: kept, sealed) }
        return true
    }

    private func ask(_ question: LoginProviderRequest, _ grant: ProviderGrant, _ call: any CallContext) throws -> ProviderGrant {
        let (status, node) = try context.foreign.object(question, of: idp.address, call)
        if status == 200, node["error"] == nil,
            let fresh = ProviderGrant(node, asked: grant.scopes.joined(separator: " "), from: grant.source, at: context.clock.now)
        {
            return fresh.following(grant)
        }
        let reason = TokenEndpoint.refusal(
            node, status: status, "the refresh token", hint: " It was revoked, was already used or has expired.")
        // Only `invalid_grant` means that the token is invalid. Other errors concern the configuration of the provider.
        guard node["error"]?.string == "invalid_grant" else {
            throw ProviderUnusable(provider: idp.providerId, check: "client", reason: reason)
        }
        var refused = grant
        (refused.refreshToken, refused.refusal) = (nil, reason)
        return refused
    }
}
