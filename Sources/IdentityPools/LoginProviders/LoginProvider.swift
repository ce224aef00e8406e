import Contract
import Crypto
import Federation
import JSON
import Platform
import ServiceContext

/// A public login provider of a pool.
package struct LoginProvider: Sendable {
    enum Kind: Sendable, Equatable {
        /// An OpenID provider with these issuers, verified by ID tokens. The first issuer publishes the keys.
        case openID(issuers: [String])
        /// A tenant of this store, verified by its ID tokens.
        case tenant(id: String)
        /// Facebook, which verifies its access tokens itself.
        case facebook
        /// Login with Amazon, which verifies its access tokens itself.
        case amazon
    }

    /// The name under which AWS clients send a pool's own token.
    package static let poolTokenName = "cognito-identity.amazonaws.com"

    /// The key of the provider's logins: a domain, or an issuer without its scheme.
    package let name: String
    let kind: Kind
    /// Whether the provider is a well-known one, whose users have a separate identity per app.
    let isSocial: Bool
    /// The client or app IDs whose tokens are accepted.
    let clientIds: [String]
    /// The configured public keys; `nil` if they are fetched.
    let keys: JWKSet?
    let endpoint: String?
    let allowsInsecure: Bool
    let allowsPrivateNetwork: Bool
    /// The provider in stored form.
    let stored: JSONObject

    /// Returns the login of `subject` in this pool. Users of social providers have a separate login per app.
    func login(subject: String, clientId: String) -> Login {
        Login(provider: name, subject: isSocial ? "\(clientId):\(subject)" : subject)
    }

    /// Returns the last element of `amr`.
    func qualified(subject: String, clientId: String, realm: Deployment) -> String {
        if isSocial { return "\(name):\(clientId):\(subject)" }
        return isUserPool ? "\(name):CognitoSignIn:\(subject)" : "\(realm.arn(ofOpenIDProvider: name)):OIDC:\(subject)"
    }
}

extension LoginProvider {
    /// Discontinued providers whose names Amazon Cognito still accepts.
    package static let legacyNames: Set = ["api.twitter.com", "www.digits.com"]

    /// The issuers of well-known OpenID providers. Google's tokens also contain the issuer without its scheme.
    private static let issuers: [PoolProviderSettings.Provider: [String]] = [
        .accountsGoogleCom: ["https://accounts.google.com", "accounts.google.com"], .appleidAppleCom: ["https://appleid.apple.com"],
    ]

    /// Creates a provider from its configuration.
    ///
    /// - Parameters:
    ///   - realm: `nil` for a provider from the store, which was already validated.
    ///   - allowsPlainLoopback: Whether plain HTTP to this machine is allowed without `allowInsecure`.
    /// - Throws: `InvalidPoolProvider`, `LegacyProviderNotSupported`.
    init(_ settings: PoolProviderSettings, in realm: Deployment?, allowsPlainLoopback: Bool) throws {
        let policy = ProviderURL.policy(allowsPlainLoopback: settings.allowInsecure || allowsPlainLoopback)
        switch settings.name {
        case .provider(let provider):
            name = provider.rawValue
            isSocial = true
            kind =
                switch provider {
                case .apiTwitterCom, .wwwDigitsCom: throw LegacyProviderNotSupported(provider: provider.rawValue)
                case .graphFacebookCom: .facebook
                case .wwwAmazonCom: .amazon
                case .accountsGoogleCom, .appleidAppleCom: .openID(issuers: Self.issuers[provider] ?? [])
                }
        case .tenantId(let id):
            self = try Self.tenant(id, settings, in: realm ?? Deployment())
            return
        case .issuer(let issuer):
            if let tenant = realm?.owner(ofIssuer: issuer)?.tenantId {
                throw InvalidPoolProvider(provider: issuer, reason: "it is a tenant of this store. Use tenantId \(tenant) instead.")
            }
            name = try Self.name(ofIssuer: issuer, policy)
            isSocial = false
            kind = .openID(issuers: [issuer])
        }
        guard let clientIds = settings.clientIds else {
            throw InvalidPoolProvider(provider: name, reason: "its clientIds are missing: the client or app IDs whose tokens are accepted.")
        }
        self.clientIds = clientIds
        endpoint = try settings.endpoint.map { [name, kind] in try Self.endpoint($0, of: name, kind, policy) }
        allowsInsecure = settings.allowInsecure
        allowsPrivateNetwork = settings.allowPrivateNetwork
        keys = try settings.keys.map { [name] keys in try Self.keys(keys, of: name) }
        stored = settings.json
        if keys != nil, kind == .facebook || kind == .amazon {
            throw InvalidPoolProvider(provider: name, reason: "it verifies its tokens itself and has no keys")
        }
    }

    private static func name(ofIssuer issuer: String, _ policy: AddressPolicy) throws -> String {
        if DiscoveryURL.isDocument(issuer) {
            throw InvalidPoolProvider(provider: issuer, reason: "\(DiscoveryURL.documentRefused(issuer, named: nil).reason).")
        }
        guard let name = ProviderURL.of(issuer, policy)?.withoutScheme, name.utf8.count <= 128 else {
            throw InvalidPoolProvider(
                provider: issuer,
                reason: "the issuer must be an https URL of up to 128 characters without query and fragment.\(ProviderURL.hint(issuer))")
        }
        return String(name)
    }

    /// - Returns: The endpoint without a trailing slash.
    private static func endpoint(_ url: String, of name: String, _ kind: Kind, _ policy: AddressPolicy) throws -> String {
        guard kind == .facebook || kind == .amazon else {
            throw InvalidPoolProvider(
                provider: name, reason: "its keys are found by its issuer; endpoint is only for providers of access tokens.")
        }
        guard ProviderURL.of(url, policy) != nil else {
            throw InvalidPoolProvider(
                provider: name, reason: "its endpoint must be an https URL without query and fragment.\(ProviderURL.hint(url))")
        }
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    private static func keys(_ keys: [JSONObject], of name: String) throws -> JWKSet {
        var known: [PublicKey] = []
        for (index, key) in keys.enumerated() {
            do {
                known.append(try PublicKey(jwk: try JSONText(JSONValue.object(key).text).root))
            } catch {
                throw InvalidPoolProvider(provider: name, reason: "its key \(index) cannot be used: \(error).")
            }
        }
        let set = JWKSet(known)
        if let key = set.repeated {
            throw InvalidPoolProvider(provider: name, reason: "two of its keys have the kid \(key.keyID).")
        }
        return set
    }
}

extension PoolProviderSettings {
    /// The settings in stored form, which is the form of the request.
    var json: JSONObject {
        var object = JSONObject()
        switch name {
        case .provider(let provider): object["provider"] = .string(provider.rawValue)
        case .issuer(let issuer): object["issuer"] = .string(issuer)
        case .tenantId(let id): object["tenantId"] = .string(id)
        }
        if let clientIds { object["clientIds"] = .array(clientIds.map { .string($0) }) }
        if let keys { object["keys"] = .array(keys.map { .object($0) }) }
        if let endpoint { object["endpoint"] = .string(endpoint) }
        object["allowInsecure"] = .bool(allowInsecure)
        object["allowPrivateNetwork"] = .bool(allowPrivateNetwork)
        return object
    }
}

extension [LoginProvider] {
    /// Names that a developer provider must not have, because they identify other logins.
    private static let reservedNames =
        LoginProvider.legacyNames.union([
            LoginProvider.poolTokenName, "graph.facebook.com", "www.amazon.com", "accounts.google.com", "appleid.apple.com",
        ])

    /// Creates the providers of a pool from their configuration.
    ///
    /// - Throws: `InvalidPoolProvider`, `LegacyProviderNotSupported`.
    package init(_ settings: [PoolProviderSettings], developerProvider: String?, in realm: Deployment, allowsPlainLoopback: Bool) throws {
        self = try settings.map { try LoginProvider($0, in: realm, allowsPlainLoopback: allowsPlainLoopback) }
        if let developerProvider, Self.reservedNames.contains(developerProvider) {
            throw InvalidPoolProvider(
                provider: developerProvider, reason: "this name is reserved for another kind of login. Choose another name."
            )
        }
        var names: Set<String> = [LoginProvider.poolTokenName]
        if let developerProvider { names.insert(developerProvider) }
        for provider in self where !names.insert(provider.name).inserted {
            throw InvalidPoolProvider(provider: provider.name, reason: "its name is already used by another provider of the pool.")
        }
    }

    /// Reads providers in the stored form that `json` returns.
    init(stored text: String) {
        let elements = (try? JSONText(text).root) ?? JSONText.emptyArray
        var providers: [LoginProvider] = []
        elements.forEachElement { _, node in
            if let tenant = LoginProvider(storedTenant: node) {
                providers.append(tenant)
            } else if let settings = try? PoolProviderSettings(decoding: node),
                let provider = try? LoginProvider(settings, in: nil, allowsPlainLoopback: true)
            {
                providers.append(provider)
            }
        }
        self = providers
    }

    package var json: JSONValue { .array(map { .object($0.stored) }) }
}

extension JSONText {
    fileprivate static let emptyArray = try! JSONText("[]").root
}

extension LoginProvider {
    var address: ProviderAddress {
        ProviderAddress(name: name, allowsInsecure: allowsInsecure, allowsPrivateNetwork: allowsPrivateNetwork)
    }
}
