import Contract
import Crypto
import JSON
import Platform
import ServiceContext

/// Refreshes a provider's access token at its token endpoint (RFC 6749 6). One of all that try does.
struct GrantRefresh: Sendable {
    let surroundings: AccountsContext
    let idp: IdpRecord
    let kept: KeptGrant

    /// Puts what the provider gives, or that it gives nothing any more, in the place of what was read; or waits for whoever does so.
    /// What is there then has to be read anew.
    ///
    /// - Returns: whether the provider was asked.
    /// - Throws: `ProviderUnavailable`, `ProviderUnusable`, after which everything is as it was; `AwaitsPeople`, what moves the call to
    ///   where it may wait.
    func run(_ grant: ProviderGrant, with refreshToken: String, at endpoint: String, _ call: any CallContext) throws -> Bool {
        if let lease = kept.lease, let wait = surroundings.grantRefreshes.wait(for: lease) {
            try wait.pass(call)
            return false
        }
        let question = try TokenEndpoint.question(
            endpoint, [("grant_type", "refresh_token"), ("refresh_token", refreshToken)], idp, surroundings.vault)
        let lease = Hex.encode(surroundings.random.bytes(16))
        surroundings.grantRefreshes.begin(lease)
        defer { surroundings.grantRefreshes.end(lease) }
        guard try surroundings.database.write({ try $0.lease(kept, to: lease) }) else { return false }
        let fresh: ProviderGrant
        do { fresh = try ask(question, grant, call) } catch {
            try surroundings.database.write { try $0.endLease(lease, of: kept, nil) }
            throw error
        }
        let sealed = kept.seal(fresh, surroundings.vault)
        try surroundings.database.write { try $0.endLease(lease, of: kept, sealed) }
        return true
    }

    private func ask(_ question: ProviderQuestion, _ grant: ProviderGrant, _ call: any CallContext) throws -> ProviderGrant {
        let (status, node) = try surroundings.foreign.object(question, of: idp.address, call)
        if status == 200, node["error"] == nil,
            let fresh = ProviderGrant(node, asked: grant.scopes.joined(separator: " "), from: grant.source, at: surroundings.clock.now)
        {
            return fresh.following(grant)
        }
        let reason = TokenEndpoint.refusal(
            node, status: status, "the refresh token", hint: " It was revoked, was already used or has expired.")
        // Only this says that the token is at fault; anything else is for whoever set up the provider.
        guard node["error"]?.string == "invalid_grant" else {
            throw ProviderUnusable(provider: idp.providerId, check: "client", reason: reason)
        }
        var refused = grant
        (refused.refreshToken, refused.refusal) = (nil, reason)
        return refused
    }
}
