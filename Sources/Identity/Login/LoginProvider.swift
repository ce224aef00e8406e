import Contract
import Crypto
import JSON

/// A public login provider of a pool (cognito.md 1.2, 4.1).
struct LoginProvider: Sendable {
    enum Kind: Sendable, Equatable {
        /// ID tokens of an OpenID provider with these issuers, the first of which publishes the keys.
        case openID(issuers: [String])
        /// Access tokens that Facebook is asked about.
        case facebook
        /// Access tokens that Login with Amazon is asked about.
        case amazon
    }

    /// The key of its logins: a domain, or an issuer without its scheme.
    let name: String
    let kind: Kind
    /// Whether it is one of the well-known ones, whose users are told apart by app as well (1.4).
    let isSocial: Bool
    /// The client or app ids whose tokens are accepted.
    let clientIds: [String]
    /// Its public keys, nil if they are fetched.
    let keys: JWKSet?
    let endpoint: String?
    let allowsInsecure: Bool
    let allowsPrivateNetwork: Bool
    /// As it stands in the store.
    let stored: JSONObject

    /// Who `subject` is for this pool: a social provider's users are told apart by app.
    func login(subject: String, clientId: String) -> Login {
        Login(provider: name, subject: isSocial ? "\(clientId):\(subject)" : subject)
    }

    /// The last part of `amr` (5.3).
    func qualified(subject: String, clientId: String, realm: Realm) -> String {
        isSocial ? "\(name):\(clientId):\(subject)" : "\(realm.arn(ofOpenIDProvider: name)):OIDC:\(subject)"
    }
}

extension LoginProvider {
    /// The issuers of well-known OpenID providers. Google's tokens also say it without the scheme.
    private static let issuers: [PoolProviderSettings.Provider: [String]] = [
        .accountsGoogleCom: ["https://accounts.google.com", "accounts.google.com"], .appleidAppleCom: ["https://appleid.apple.com"],
    ]

    /// Reads a provider as a caller configures it.
    ///
    /// - Throws: `InvalidPoolProvider`.
    init(_ settings: PoolProviderSettings) throws {
        switch settings.name {
        case .provider(let provider):
            name = provider.rawValue
            isSocial = true
            kind =
                switch provider {
                case .graphFacebookCom: .facebook
                case .wwwAmazonCom: .amazon
                case .accountsGoogleCom, .appleidAppleCom: .openID(issuers: Self.issuers[provider] ?? [])
                }
        case .issuer(let issuer):
            name = try Self.name(ofIssuer: issuer, allowsInsecure: settings.allowInsecure)
            isSocial = false
            kind = .openID(issuers: [issuer])
        }
        clientIds = settings.clientIds
        endpoint = settings.endpoint
        allowsInsecure = settings.allowInsecure
        allowsPrivateNetwork = settings.allowPrivateNetwork
        keys = try settings.keys.map { [name] keys in try Self.keys(keys, of: name) }
        stored = settings.json
        if keys != nil, kind == .facebook || kind == .amazon {
            throw InvalidPoolProvider(provider: name, reason: "it is asked about its tokens and has no keys")
        }
    }

    /// - Throws: `InvalidPoolProvider` for what is no https URL with a host, or has a query or a fragment (OpenID Connect Core 2, iss).
    private static func name(ofIssuer issuer: String, allowsInsecure: Bool) throws -> String {
        for scheme in allowsInsecure ? ["https://", "http://"] : ["https://"] where issuer.hasPrefix(scheme) {
            let name = issuer.dropFirst(scheme.count)
            guard let first = name.utf8.first, first != UInt8(ascii: "/"), name.utf8.count <= 128,
                name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"?#@\\\"<>^`{|}".utf8.contains($0) })
            else { break }
            return String(name)
        }
        let insecure = issuer.hasPrefix("http://") ? " Plain http needs allowInsecure." : ""
        throw InvalidPoolProvider(
            provider: issuer, reason: "an issuer is an https URL of up to 128 characters with neither query nor fragment.\(insecure)")
    }

    private static func keys(_ keys: [JSONObject], of name: String) throws -> JWKSet {
        var known: [PublicKey] = []
        for (index, key) in keys.enumerated() {
            do {
                known.append(try PublicKey(jwk: try JSONText(JSONValue.object(key).text).root))
            } catch {
                throw InvalidPoolProvider(provider: name, reason: "its key \(index) cannot be used: \(error)")
            }
        }
        return JWKSet(known)
    }
}

extension PoolProviderSettings {
    /// As it is kept, which is how it was given.
    var json: JSONObject {
        var object = JSONObject()
        switch name {
        case .provider(let provider): object["provider"] = .string(provider.rawValue)
        case .issuer(let issuer): object["issuer"] = .string(issuer)
        }
        object["clientIds"] = .array(clientIds.map { .string($0) })
        if let keys { object["keys"] = .array(keys.map { .object($0) }) }
        if let endpoint { object["endpoint"] = .string(endpoint) }
        object["allowInsecure"] = .bool(allowInsecure)
        object["allowPrivateNetwork"] = .bool(allowPrivateNetwork)
        return object
    }
}

extension [LoginProvider] {
    /// Reads the providers of a pool.
    ///
    /// - Throws: `InvalidPoolProvider`.
    init(_ settings: [PoolProviderSettings], developerProvider: String?) throws {
        self = try settings.map { try LoginProvider($0) }
        var names: Set<String> = ["cognito-identity.amazonaws.com"]
        if let developerProvider { names.insert(developerProvider) }
        for provider in self where !names.insert(provider.name).inserted {
            throw InvalidPoolProvider(provider: provider.name, reason: "its name is taken by another provider of the pool.")
        }
    }

    /// Reads what `json` answered.
    init(stored text: String) {
        let elements = (try? JSONText(text).root) ?? JSONText.emptyArray
        var providers: [LoginProvider] = []
        elements.forEachElement { _, node in
            if let settings = try? PoolProviderSettings(decoding: node), let provider = try? LoginProvider(settings) {
                providers.append(provider)
            }
        }
        self = providers
    }

    var json: JSONValue { .array(map { .object($0.stored) }) }
}

extension JSONText {
    fileprivate static let emptyArray = try! JSONText("[]").root
}
