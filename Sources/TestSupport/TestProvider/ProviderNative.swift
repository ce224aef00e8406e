import Accounts
import Contract
import JSON
import Loopback

/// OAuth 2.0 for First-Party Applications, which the process provides to the test provider.
public struct NativeAuthorization: Sendable {
    /// The outcome of the redemption of an authorization code.
    public enum Redemption: Sendable {
        /// The code is not one of native authorization.
        case foreign
        case refused(String)
        case granted(refreshToken: String, scope: String, audience: String?)
    }

    /// A request to redeem an authorization code.
    public struct Request: Sendable {
        public let code: String
        public let verifier: String?
        /// The thumbprint of the key that the request has proven (RFC 9449).
        public let thumbprint: String?
        public let clientId: String
        public let tenantId: String
    }

    /// The proofs in a request to the authorization challenge endpoint.
    public struct Proven: Sendable {
        /// The client whose secret was verified.
        public var clientId: String?
        /// The thumbprint of the key of the request's proof (RFC 9449).
        public var thumbprint: String?
    }

    /// Handles a request to the authorization challenge endpoint of a tenant.
    let challenge: @Sendable (LoopbackRequest, String, Proven) -> LoopbackResponse
    let redeem: @Sendable (Request) throws -> Redemption

    public init(
        challenge: @escaping @Sendable (LoopbackRequest, String, Proven) -> LoopbackResponse,
        redeem: @escaping @Sendable (Request) throws -> Redemption
    ) {
        self.challenge = challenge
        self.redeem = redeem
    }
}

extension TestProvider {
    /// The authorization challenge endpoint. Clients with a secret or keys authenticate as at the token endpoint.
    func nativeChallenge(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        var proven = NativeAuthorization.Proven()
        if request.authorization("basic") != nil || request.form["client_secret"] != nil || request.form["client_assertion"] != nil {
            let client = try client(in: request, at: .challenge, of: issuer)
            // Without configured clients, any secret is accepted, which proves nothing.
            if !client.known.isOpen, client.isAuthenticated { proven.clientId = client.id }
        }
        proven.thumbprint = try proof(in: request, to: .challenge, of: issuer)
        return native.challenge(request.whole, issuer.tenant.id, proven)
    }

    /// Exchanges a code of the authorization challenge endpoint. Returns `nil` for another code.
    func redeemNative(_ client: ProviderClient, of issuer: ProviderIssuer, _ form: ProviderParameters) throws -> JSONObject? {
        let request = NativeAuthorization.Request(
            code: form["code"] ?? "", verifier: form["code_verifier"], thumbprint: client.thumbprint, clientId: client.id,
            tenantId: issuer.tenant.id)
        switch try native.redeem(request) {
        case .foreign: return nil
        case .refused(let reason): throw OAuthRefusal("invalid_grant", reason)
        case .granted(let token, let scope, let audience):
            let now = context.clock.now
            let mac = SignInCompletion(context, configurations).mac(ofRefreshToken: token)
            guard let record = try context.database.read({ try $0.refreshToken(mac) }),
                let standing = try standing(of: record.sessionId, at: now)
            else { throw OAuthRefusal("invalid_grant", "The session was ended.") }
            var grant = ProviderState.Grant(issuer: issuer.name, clientId: client.id, scopes: Scopes(scope), audience: audience)
            grant.thumbprint = client.keptThumbprint
            memory.withLock { [grant] in $0.grants[record.sessionId] = grant }
            grant.thumbprint = client.thumbprint
            return try answer(
                GrantedSession(
                    standing: standing, grant: grant, refreshToken: grant.scopes.names.contains("offline_access") ? token : nil),
                of: issuer, try signingKey(of: issuer, at: now), at: now)
        }
    }
}
