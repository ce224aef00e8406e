import Contract
import JSON

/// Where a provider is asked, and where people are sent.
struct IdpEndpoints: Sendable, Equatable {
    var authorization: String?
    var token: String?
    var device: String?
    /// Where it tells more of a person (OpenID Connect Core 5.3).
    var userinfo: String?
    /// Whether it names itself when it sends somebody back (RFC 9207).
    var namesIssuer = false
    /// Whether it can send its answer as a form post, which a listener receives; a fragment never reaches a server (OAuth 2.0 Form Post
    /// Response Mode). A document that does not say offers `query` and `fragment` (OpenID Connect Discovery 3).
    var hasFormPost = false

    /// An endpoint as documents call it.
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

    /// Of those that publish none (docs.github.com, developers.facebook.com).
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

    /// As a discovery document names them (OpenID Connect Discovery 3, RFC 8414, RFC 8628 section 4).
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
    /// The scopes of every request: who the user is, with address and name, unless the provider must not be asked for more.
    var basicScopes: [String] {
        if settings.openidOnly { return ["openid"] }
        return switch known {
        case .github: ["read:user", "user:email"]
        case .facebook: ["public_profile", "email"]
        case .apple: ["openid", "email", "name"]
        default: ["openid", "email", "profile"]
        }
    }

    /// The scopes of a request: the basic ones, those of the provider's settings, and those of this request.
    func scope(_ more: [String]?) -> String {
        var scopes = basicScopes
        for scope in (settings.scopes ?? []) + (more ?? []) where !scopes.contains(scope) { scopes.append(scope) }
        return scopes.joined(separator: " ")
    }

    var clientAuthentication: ClientAuthentication {
        settings.clientAuthentication ?? (clientSecret == nil ? .none : known == nil ? .basic : .post)
    }
}
