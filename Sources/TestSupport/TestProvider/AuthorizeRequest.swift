import Accounts
import Platform

/// An authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1).
struct AuthorizeRequest: Sendable {
    enum ResponseMode: String, Sendable {
        case query
        case formPost = "form_post"
    }

    let clientId: String
    let client: KnownClient
    let redirectUri: String
    let responseMode: ResponseMode
    let state: String?
    let parameters: ProviderParameters
    /// The URI of the request if the client has pushed it (RFC 9126).
    var requestUri: String?

    /// Validates the client and the redirect URI. Their errors are shown on a page, because the user must not be redirected to a URI that
    /// does not belong to the client (RFC 6749 §4.1.2.1).
    ///
    /// - Parameter documents: How the document of the client is got, if it has one.
    /// - Throws: `OAuthRefusal`.
    init(_ parameters: ProviderParameters, of issuer: ProviderIssuer, documents: ProviderIssuer.DocumentUse = .fetched) throws {
        self.parameters = parameters
        guard let clientId = parameters["client_id"] else { throw OAuthRefusal("invalid_request", "client_id is missing.") }
        guard let client = try issuer.client(clientId, documents: documents) else {
            throw OAuthRefusal(
                "unauthorized_client", "Unknown client \(clientId). \(issuer.acceptedClients)")
        }
        guard let redirectUri = parameters["redirect_uri"] else {
            throw OAuthRefusal("invalid_request", "redirect_uri is missing.")
        }
        if let flaw = Self.flaw(of: redirectUri) { throw OAuthRefusal("invalid_request", "redirect_uri \(flaw)") }
        if !client.isOpen, !client.settings.knows(redirectUri: redirectUri) {
            let place = client.metadata == nil ? "redirectUris in test.idp" : "redirect_uris"
            throw OAuthRefusal(
                "invalid_request",
                "The client \(clientId) has no redirect URI \(redirectUri). Add it to its \(place); the comparison is exact.")
        }
        if parameters.repeated.contains("redirect_uri") || parameters.repeated.contains("client_id") {
            throw OAuthRefusal("invalid_request", "client_id and redirect_uri must each occur once.")
        }
        self.clientId = clientId
        self.client = client
        self.redirectUri = redirectUri
        state = parameters["state"]
        responseMode = parameters["response_mode"].flatMap(ResponseMode.init) ?? .query
    }

    /// Returns the reason why the URI cannot be used for redirects, or `nil` if it can.
    static func flaw(of uri: String) -> String? {
        guard let colon = uri.firstIndex(of: ":"), uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return "is not an absolute URI in ASCII."
        }
        if uri.contains("#") { return "must not contain a fragment." }
        let scheme = uri[..<colon].lowercased()
        let isScheme =
            scheme.utf8.first.map { 0x61...0x7A ~= $0 } == true
            && scheme.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || "+-.".utf8.contains($0) }
        if scheme == "http" || scheme == "https" {
            let rest = uri[uri.index(after: colon)...]
            guard rest.hasPrefix("//"), let first = rest.dropFirst(2).first, !"/?:".contains(first) else { return "contains no host." }
        }
        let scripts: Set<String> = ["javascript", "data", "vbscript", "file", "blob", "about"]
        return isScheme && !scripts.contains(scheme) ? nil : "has a scheme that no app can handle."
    }

    /// Validates the other parameters. Their errors are sent to the client.
    ///
    /// - Parameter isPushed: Whether the request is being pushed; `requestUri` shows that it was.
    /// - Throws: `OAuthRefusal`.
    func check(for issuer: ProviderIssuer, isPushed: Bool = false) throws {
        try parameters.checkRepeated()
        if !isPushed, requestUri == nil, issuer.settings.requirePushedRequests || client.metadata?.requiresPushing == true {
            let party = issuer.settings.requirePushedRequests ? "The issuer \(issuer.name)" : "The registration of the client"
            throw OAuthRefusal(
                "invalid_request", "\(party) requires pushed authorization requests: send this one to the endpoint par (RFC 9126).")
        }
        guard let type = parameters["response_type"] else { throw OAuthRefusal("invalid_request", "response_type is missing; use code.") }
        guard type == "code" else {
            throw OAuthRefusal("unsupported_response_type", "Only response_type=code is supported, not \(type).")
        }
        if let mode = parameters["response_mode"], ResponseMode(rawValue: mode) == nil {
            throw OAuthRefusal("invalid_request", "response_mode must be query or form_post, not \(mode).")
        }
        for name in ["request", "request_uri"] where parameters[name] != nil {
            throw OAuthRefusal("\(name)_not_supported", "\(name) is not supported; send the individual parameters.")
        }
        try checkChallenge(for: issuer)
        guard client.mayUse(.code) else {
            throw OAuthRefusal("unauthorized_client", "The client \(clientId) is not registered for the grant type authorization_code.")
        }
        try issuer.check(scopes, for: try issuer.audience(in: parameters))
        if let key = parameters["dpop_jkt"], key.utf8.count != 43 || Base64URL.decode(key) == nil {
            throw OAuthRefusal("invalid_request", "dpop_jkt must be the thumbprint of a key, 43 characters (RFC 9449 10).")
        }
        guard prompts.isSubset(of: ["none", "login", "select_account", "consent"]), !prompts.contains("none") || prompts.count == 1 else {
            throw OAuthRefusal("invalid_request", "prompt must be none, or a combination of login, select_account and consent.")
        }
        if let text = parameters["max_age"], Int64(text).map({ $0 < 0 }) ?? true {
            throw OAuthRefusal("invalid_request", "max_age must be a number of seconds, not \(text).")
        }
    }

    private func checkChallenge(for issuer: ProviderIssuer) throws {
        guard let challenge else {
            if parameters["code_challenge_method"] != nil {
                throw OAuthRefusal("invalid_request", "code_challenge_method requires a code_challenge.")
            }
            if issuer.requiresPKCE {
                throw OAuthRefusal("invalid_request", "code_challenge is missing: the issuer \(issuer.name) requires PKCE (RFC 7636).")
            }
            if !client.isOpen, client.isPublic {
                throw OAuthRefusal(
                    "invalid_request",
                    "The client \(clientId) has no secret and no keys, so it must use PKCE: code_challenge is missing (RFC 7636).")
            }
            return
        }
        guard parameters["code_challenge_method"] == "S256" else {
            throw OAuthRefusal("invalid_request", "code_challenge_method must be S256.")
        }
        guard challenge.utf8.count == 43, Base64URL.decode(challenge) != nil else {
            throw OAuthRefusal("invalid_request", "code_challenge must be the base64url of a SHA-256, 43 characters without padding.")
        }
    }

    /// The query of a URL of the authorization endpoint that repeats the request.
    var query: String { requestUri.map { Form.encode([("client_id", clientId), ("request_uri", $0)]) } ?? parameters.text }

    var challenge: String? { parameters["code_challenge"] }
    var prompts: Set<String> { Set((parameters["prompt"] ?? "").split(separator: " ").map(String.init)) }
    var scopes: Scopes { Scopes(parameters["scope"] ?? "") }
    var maxAge: Int64? { parameters["max_age"].flatMap { Int64($0) } }
    /// Returns whether a login at this time satisfies `max_age`. With `max_age=0` no login does: the user must sign in again, as with
    /// `prompt=login` (OpenID Connect Core §3.1.2.1). A login in the future never does.
    func takes(authenticatedAt: Int64?, at now: Int64) -> Bool {
        guard let maxAge else { return true }
        guard maxAge > 0, let authenticatedAt, authenticatedAt <= now else { return false }
        return now - authenticatedAt <= maxAge
    }

    /// The grant that the user's consent creates.
    ///
    /// - Throws: `OAuthRefusal` with `invalid_target`.
    func grant(of issuer: ProviderIssuer, loginId: String?) throws -> ProviderState.Grant {
        ProviderState.Grant(
            issuer: issuer.name, clientId: clientId, scopes: scopes, audience: try issuer.audience(in: parameters), loginId: loginId)
    }
}
