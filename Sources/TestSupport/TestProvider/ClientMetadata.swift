import Contract
import JSON
import Platform

/// The metadata of a client, from its registration (RFC 7591 §2) or from its document (OAuth Client ID Metadata Document).
struct ClientMetadata: Sendable {
    enum Source {
        case registration
        /// The document at this client ID.
        case document(String)
    }

    let redirectUris: [String]
    /// The method of authentication at the token endpoint.
    let authentication: String
    let grantTypes: [String]
    /// The keys of a client that authenticates with assertions.
    let keys: ClientKeySource?
    /// The only algorithm of its assertions, if it is registered for one.
    let signingAlgorithm: String?
    /// Whether every access token of the client is bound to a key (RFC 9449 §5.2).
    let requiresProofs: Bool
    /// Whether every authorization request of the client must be pushed (RFC 9126 §6).
    let requiresPushing: Bool
    /// The members that the provider knows, with the defaults of omitted ones.
    let members: JSONObject

    private static let texts = [
        "client_name", "client_uri", "logo_uri", "scope", "tos_uri", "policy_uri", "software_id", "software_version", "application_type",
    ]
    private static let maximumElements = 100
    private static let maximumLength = 2048

    /// - Throws: `OAuthRefusal` with `invalid_client_metadata` or `invalid_redirect_uri`.
    init(_ object: JSONObject, from source: Source) throws {
        func refuse(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_client_metadata", reason) }
        var known = JSONObject()
        func list(_ name: String) throws -> [String]? {
            guard let value = object[name], !value.isNull else { return nil }
            let texts = value.array?.compactMap(\.string)
            guard let texts, texts.count == value.array?.count, texts.count <= Self.maximumElements,
                texts.allSatisfy({ $0.utf8.count <= Self.maximumLength && !$0.utf8.contains(0) })
            else { throw refuse("\(name) must be a list of at most \(Self.maximumElements) strings.") }
            return texts
        }
        for name in Self.texts {
            guard let value = object[name], !value.isNull else { continue }
            guard let text = value.string, text.utf8.count <= Self.maximumLength, !text.utf8.contains(0) else {
                throw refuse("\(name) must be a string of at most \(Self.maximumLength) bytes.")
            }
            known[name] = value
        }
        known["contacts"] = try list("contacts").map { .array($0.map { .string($0) }) }
        if let value = object["dpop_bound_access_tokens"], !value.isNull, value.bool == nil {
            throw refuse("dpop_bound_access_tokens must be true or false.")
        }
        requiresProofs = object["dpop_bound_access_tokens"]?.bool ?? false
        if requiresProofs { known["dpop_bound_access_tokens"] = true }
        if let value = object["require_pushed_authorization_requests"], !value.isNull, value.bool == nil {
            throw refuse("require_pushed_authorization_requests must be true or false.")
        }
        requiresPushing = object["require_pushed_authorization_requests"]?.bool ?? false
        if requiresPushing { known["require_pushed_authorization_requests"] = true }
        if let value = object["token_endpoint_auth_method"], !value.isNull, value.string == nil {
            throw refuse("token_endpoint_auth_method must be a string.")
        }
        authentication = object["token_endpoint_auth_method"]?.string ?? source.usualMethod
        guard source.methods.contains(authentication) else {
            throw refuse("token_endpoint_auth_method must be \(source.methods.joined(separator: " or ")), not \(authentication).")
        }
        keys = authentication == ClientAssertion.method ? try ClientKeySource(metadata: object) : nil
        signingAlgorithm = keys == nil ? nil : object["token_endpoint_auth_signing_alg"]?.string
        if keys != nil {
            for name in ["jwks", "jwks_uri"] { known[name] = object[name].flatMap { $0.isNull ? nil : $0 } }
            known["token_endpoint_auth_signing_alg"] = try Self.algorithm(in: object)
        }
        grantTypes = try list("grant_types") ?? [ProviderGrantType.code.rawValue]
        let supported = ProviderGrantType.allCases.map(\.rawValue)
        if let other = grantTypes.first(where: { !supported.contains($0) }) {
            throw refuse("The grant type \(other) is not supported. Supported are \(supported.joined(separator: ", ")).")
        }
        if let types = try list("response_types"), types.contains(where: { $0 != "code" }) {
            throw refuse("response_types must be [\"code\"].")
        }
        redirectUris = try list("redirect_uris") ?? []
        if redirectUris.isEmpty, grantTypes.contains(ProviderGrantType.code.rawValue) {
            throw OAuthRefusal("invalid_redirect_uri", "redirect_uris is missing: the grant type authorization_code needs at least one.")
        }
        for uri in redirectUris {
            if let flaw = Self.flaw(of: uri) { throw OAuthRefusal("invalid_redirect_uri", "The redirect URI \(uri) \(flaw)") }
        }
        known["redirect_uris"] = .array(redirectUris.map { .string($0) })
        known["grant_types"] = .array(grantTypes.map { .string($0) })
        known["response_types"] = grantTypes.contains(ProviderGrantType.code.rawValue) ? ["code"] : []
        known["token_endpoint_auth_method"] = .string(authentication)
        members = known
    }

    /// Whether the client authenticates with a secret.
    var needsSecret: Bool { authentication.hasPrefix("client_secret_") }
    /// Whether the client asks for refresh tokens.
    var mayRefresh: Bool { grantTypes.contains(ProviderGrantType.refreshToken.rawValue) }

    /// Returns the algorithm of the assertions, or `nil` if all are accepted.
    private static func algorithm(in object: JSONObject) throws -> JSONValue? {
        guard let value = object["token_endpoint_auth_signing_alg"], !value.isNull else { return nil }
        guard let name = value.string, ClientAssertion.algorithms.contains(where: { $0.rawValue == name }) else {
            let names = ClientAssertion.algorithms.map(\.rawValue).joined(separator: ", ")
            throw OAuthRefusal("invalid_client_metadata", "token_endpoint_auth_signing_alg must be one of \(names).")
        }
        return value
    }

    /// Returns the reason why a client cannot have this redirect URI. Plain HTTP is allowed for this machine only, because a code on the
    /// network could be read.
    private static func flaw(of uri: String) -> String? {
        if let flaw = AuthorizeRequest.flaw(of: uri) { return flaw }
        guard uri.lowercased().hasPrefix("http:") else { return nil }
        guard let url = try? HTTPURL(uri), url.userInformation == nil, url.isLoopback else {
            return "must use https: plain http is allowed only for localhost and loopback addresses."
        }
        return nil
    }
}

extension ClientMetadata.Source {
    /// The supported methods of authentication. A document is public, so it cannot contain a secret.
    fileprivate var methods: [String] {
        switch self {
        case .registration: ["none", "client_secret_basic", "client_secret_post", ClientAssertion.method]
        case .document: ["none", ClientAssertion.method]
        }
    }

    /// The method of a client that names none. RFC 7591 defines `client_secret_basic` for registrations.
    fileprivate var usualMethod: String {
        switch self {
        case .registration: "client_secret_basic"
        case .document: "none"
        }
    }
}

/// A client that an issuer accepts.
struct KnownClient: Sendable {
    let settings: TestClient
    /// The metadata of a client that was registered or has a document.
    var metadata: ClientMetadata?
    /// Whether the issuer accepts every client, with any secret and any redirect URI.
    var isOpen = false

    /// A client of an issuer that accepts every client.
    static func open(_ id: String) -> KnownClient { KnownClient(settings: TestClient(clientId: id), isOpen: true) }

    /// The keys of a client that authenticates with assertions, or `nil` for all others.
    var keys: ClientKeySource? { metadata?.keys ?? ClientKeySource(settings) }
    /// Whether the client cannot authenticate.
    var isPublic: Bool { settings.clientSecret == nil && keys == nil }

    /// Returns whether the client can use a grant type. Only registered clients and those with a document are limited.
    func mayUse(_ grant: ProviderGrantType) -> Bool { metadata.map { $0.grantTypes.contains(grant.rawValue) } ?? true }
}
