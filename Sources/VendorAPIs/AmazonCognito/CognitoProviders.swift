import Contract
import IdentityPools
import JSON
import ServiceContext

/// Converts login providers from and to the format of the service. Social providers are identified by their domain and have one app ID.
/// User pools have a name and a client. Others have the ARN of an IAM OpenID Connect provider.
struct CognitoProviders {
    private let realm: Deployment
    /// Returns the settings of a trusted issuer by its name.
    private let trustedIssuer: (String) throws -> TrustedIssuerDeclaration?

    init(_ realm: Deployment, trustedIssuer: @escaping (String) throws -> TrustedIssuerDeclaration? = { _ in nil }) {
        self.realm = realm
        self.trustedIssuer = trustedIssuer
    }

    // MARK: From the format of the service

    /// Returns the providers of a pool as method parameters.
    ///
    /// - Parameter existing: The current providers of the pool. A provider that is given again keeps the settings that the format of the
    ///   service does not contain: keys, endpoint, and the clients of an OpenID Connect provider, which AWS stores in the account.
    /// - Throws: `WireError` if a provider is not supported.
    func settings(_ input: JSONObject, keeping existing: [PoolProvider]) throws -> JSONValue {
        if input["SamlProviderARNs"]?.array?.isEmpty == false {
            throw WireError.invalidParameter("SAML providers are not supported. Use the OpenID Connect endpoint of the provider.")
        }
        let known = Dictionary(existing.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var all: [JSONValue] = []
        for (domain, app) in (input["SupportedLoginProviders"]?.object ?? [:]).members {
            if LoginProvider.legacyNames.contains(domain) {
                throw WireError.invalidParameter(LegacyProviderNotSupported(provider: domain).message)
            }
            guard PoolProvider.Provider(rawValue: domain) != nil else {
                throw WireError.invalidParameter(
                    "\(domain) is not a known SupportedLoginProviders key. Other providers are OpenIdConnectProviderARNs.")
            }
            let clients = (app.string ?? "").split(separator: ";").map { JSONValue.string(String($0)) }
            if clients.isEmpty { throw WireError.invalidParameter("SupportedLoginProviders contains no app ID for \(domain).") }
            all.append(settings(["provider": .string(domain), "clientIds": .array(clients)], keeping: known[domain]))
        }
        for (name, clients) in try userPools(input) {
            let new: JSONObject = ["issuer": .string("https://\(name)"), "clientIds": .array(clients.map { .string($0) })]
            all.append(settings(new, keeping: known[name]))
        }
        for arn in (input["OpenIdConnectProviderARNs"]?.array ?? []).compactMap(\.string) {
            let prefix = realm.arn(ofOpenIDProvider: "")
            guard arn.hasPrefix(prefix), arn.utf8.count > prefix.utf8.count else {
                throw WireError.invalidParameter("\(arn) is not the ARN of an OpenID provider of this account: \(prefix)HOST/PATH.")
            }
            let name = String(arn.dropFirst(prefix.count))
            all.append(settings(try openIDProvider(name), keeping: known[name]))
        }
        return .array(all)
    }

    /// Returns a provider with the audiences of the trusted issuer of this name, or with only an issuer. AWS stores its clients in the account, Mintmark in the pool: until `pool.update` sets them,
    /// no token of the provider is accepted.
    private func openIDProvider(_ name: String) throws -> JSONObject {
        if let issuer = try trustedIssuer(name)?.json, issuer["issuer"] != nil {
            var settings = JSONObject()
            for member in ["issuer", "keys", "allowInsecure", "allowPrivateNetwork"] { settings[member] = issuer[member] }
            settings["clientIds"] = issuer["audiences"]
            return settings
        }
        if let tenant = realm.owner(ofIssuer: "https://\(name)")?.tenantId { return ["tenantId": .string(tenant)] }
        return ["issuer": .string("https://\(name)"), "clientIds": []]
    }

    private func settings(_ new: JSONObject, keeping old: PoolProvider?) -> JSONValue {
        guard let old else { return .object(new) }
        var writer = JSONWriter()
        old.write(to: &writer)
        var settings = (try? JSONValue(parsing: writer.bytes))?.object ?? [:]
        if old.tenantId != nil { return ["tenantId": settings["tenantId"] ?? .null] }
        settings["name"] = nil
        if let clients = new["clientIds"], clients.array?.isEmpty == false { settings["clientIds"] = clients }
        return .object(settings)
    }

    /// Returns the clients by user pool.
    private func userPools(_ input: JSONObject) throws -> [(name: String, clients: [String])] {
        var pools: [(name: String, clients: [String])] = []
        for entry in input["CognitoIdentityProviders"]?.array ?? [] {
            guard let name = entry["ProviderName"]?.string, let client = entry["ClientId"]?.string else {
                throw WireError.invalidParameter("Invalid Cognito Identity Provider")
            }
            guard UserPool.isName(name) else {
                throw WireError.invalidParameter(
                    "\(name) is not the name of a user pool: cognito-idp.REGION.amazonaws.com/USER_POOL_ID. Other providers are OpenIdConnectProviderARNs."
                )
            }
            if entry["ServerSideTokenCheck"]?.bool == true {
                throw WireError.invalidParameter(
                    "ServerSideTokenCheck is not supported.")
            }
            let at = pools.firstIndex { $0.name == name } ?? pools.endIndex
            if at == pools.endIndex { pools.append((name, [])) }
            if !pools[at].clients.contains(client) { pools[at].clients.append(client) }
        }
        return pools
    }

    // MARK: To the format of the service

    private func isUserPool(_ provider: PoolProvider) -> Bool { provider.issuer != nil && UserPool.isName(provider.name) }

    /// Returns the members for the providers of a pool. The format of the service has no list of clients for a social provider, so several
    /// clients are separated by `;`.
    func answer(_ providers: [PoolProvider]) -> JSONObject {
        var social = JSONObject()
        var pools: [JSONValue] = []
        var others: [JSONValue] = []
        for provider in providers {
            if let domain = provider.provider {
                social[domain.rawValue] = .string(provider.clientIds.joined(separator: ";"))
            } else if isUserPool(provider) {
                for client in provider.clientIds {
                    pools.append(["ProviderName": .string(provider.name), "ClientId": .string(client), "ServerSideTokenCheck": false])
                }
            } else {
                others.append(.string(realm.arn(ofOpenIDProvider: provider.name)))
            }
        }
        var answer = JSONObject()
        if !social.isEmpty { answer["SupportedLoginProviders"] = .object(social) }
        if !others.isEmpty { answer["OpenIdConnectProviderARNs"] = .array(others) }
        if !pools.isEmpty { answer["CognitoIdentityProviders"] = .array(pools) }
        return answer
    }

    // MARK: Keys in role mappings and tag maps

    /// Returns the keys of a provider in role mappings, in both formats. A user pool has one key for each client.
    func mappingKeys(_ provider: PoolProvider) -> [(ours: String, theirs: String)] {
        if isUserPool(provider) {
            return provider.clientIds.map { UserPool.mappingKey(provider.name, clientId: $0) }.map { ($0, $0) }
        }
        return [(provider.name, tagKey(provider))]
    }

    /// Returns the key of a provider in tag maps.
    func tagKey(_ provider: PoolProvider) -> String {
        provider.provider != nil || isUserPool(provider) ? provider.name : realm.arn(ofOpenIDProvider: provider.name)
    }
}
