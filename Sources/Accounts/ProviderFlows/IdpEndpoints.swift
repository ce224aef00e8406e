import Contract
import JSON

/// The endpoints of a provider.
struct IdpEndpoints: Sendable, Equatable {
    var authorization: String?
    var token: String?
    var device: String?
    /// The UserInfo endpoint (OpenID Connect Core §5.3).
    var userinfo: String?
    /// Whether authorization responses contain `iss` (RFC 9207).
    var namesIssuer = false
    /// Whether the provider supports `form_post`, which a listener can receive; a fragment is never sent to a server (OAuth 2.0 Form Post
    /// Response Mode). The default of `response_modes_supported` is `query` and `fragment` (OpenID Connect Discovery §3).
    var hasFormPost = false

    /// An endpoint, with its name in discovery documents.
    enum Kind: String, CaseIterable {
        case authorization = "authorization_endpoint"
        case token = "token_endpoint"
        case device = "device_authorization_endpoint"
        case userinfo = "userinfo_endpoint"
    }

    subscript(kind: Kind) -> String? {
        switch kind {
        case .authorization: authorization
        case .token: token
        case .device: device
        case .userinfo: userinfo
        }
    }

    /// The endpoints of providers that publish no discovery document (docs.github.com, developers.facebook.com).
    static func known(_ idp: IdpRecord) -> IdpEndpoints? {
        switch idp.known {
        case .github:
            let web = idp.settings.endpoint ?? "https://github.com"
            return IdpEndpoints(
                authorization: "\(web)/login/oauth/authorize", token: "\(web)/login/oauth/access_token", device: "\(web)/login/device/code")
        case .facebook:
            return IdpEndpoints(
                authorization: "https://www.facebook.com/v19.0/dialog/oauth",
                token: "\(idp.settings.endpoint ?? "https://graph.facebook.com")/v19.0/oauth/access_token")
        default: return nil
        }
    }

    static let noFormPost =
        "It does not offer form_post, and without that an ID token comes back in a fragment, which listen cannot receive."
    static let useCode = "Set responseType to code, or call idp.authorize with redirectUri."

    init(authorization: String? = nil, token: String? = nil, device: String? = nil) {
        self.authorization = authorization
        self.token = token
        self.device = device
    }

    /// Reads the endpoints from a discovery document (OpenID Connect Discovery §3, RFC 8414, RFC 8628 §4).
    init(_ description: JSONNode) {
        authorization = description["authorization_endpoint"]?.string
        token = description["token_endpoint"]?.string
        device = description["device_authorization_endpoint"]?.string
        userinfo = description["userinfo_endpoint"]?.string
        description["response_modes_supported"]?.forEachElement { if $1.string == "form_post" { hasFormPost = true } }
        namesIssuer = description["authorization_response_iss_parameter_supported"]?.bool ?? false
    }
}

extension IdpRecord {
    /// The scopes of every request. They request the subject, email address and name, or only the subject with `openidOnly`.
    var basicScopes: [String] {
        if settings.openidOnly { return ["openid"] }
        return switch known {
        case .github: ["read:user", "user:email"]
        case .facebook: ["public_profile", "email"]
        case .apple: ["openid", "email", "name"]
        default: ["openid", "email", "profile"]
        }
    }

    /// Returns the scopes of a request: the basic scopes, the scopes of the provider's settings, and the scopes of this request.
    func scope(_ more: [String]?) -> String {
        var scopes = basicScopes
        for scope in (settings.scopes ?? []) + (more ?? []) where !scopes.contains(scope) { scopes.append(scope) }
        return scopes.joined(separator: " ")
    }

    var clientAuthentication: ClientAuthentication {
        settings.clientAuthentication ?? (clientSecret == nil ? .none : known == nil ? .basic : .post)
    }
}
