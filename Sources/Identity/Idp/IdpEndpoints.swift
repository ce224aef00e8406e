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
        namesIssuer = description["authorization_response_iss_parameter_supported"]?.bool ?? false
    }
}

extension IdpRecord {
    /// What is asked for if nobody says.
    var usualScopes: [String] {
        switch known {
        case .github: ["read:user", "user:email"]
        case .facebook: ["public_profile", "email"]
        case .apple: ["openid", "email", "name"]
        default: ["openid", "email", "profile"]
        }
    }

    /// What is asked for: openid always, where there are ID tokens (firebase.md 3.3).
    func scope(_ wanted: [String]?) -> String {
        guard let wanted else { return usualScopes.joined(separator: " ") }
        let isOpenID = known != .github && known != .facebook
        return ((isOpenID && !wanted.contains("openid") ? ["openid"] : []) + wanted).joined(separator: " ")
    }

    var clientAuthentication: ClientAuthentication {
        settings.clientAuthentication ?? (clientSecret == nil ? .none : known == nil ? .basic : .post)
    }
}
