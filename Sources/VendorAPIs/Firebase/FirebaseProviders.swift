import Contract
import JSON
import ServiceContext
import Storage

/// The kinds of identity provider configurations, by the name of their collection.
enum FirebaseProviderKind: String {
    case oidc = "oauthIdpConfigs"
    case saml = "inboundSamlConfigs"
    /// Google, Facebook and the other providers that need only a client ID and a secret.
    case known = "defaultSupportedIdpConfigs"

    /// The query parameter with the ID of a new configuration.
    var parameter: String {
        switch self {
        case .oidc: "oauthIdpConfigId"
        case .saml: "inboundSamlConfigId"
        case .known: "idpId"
        }
    }

    static let knownProviders = [
        "apple.com", "facebook.com", "gc.apple.com", "github.com", "google.com", "linkedin.com", "microsoft.com", "playgames.google.com",
        "twitter.com", "yahoo.com",
    ]

    /// The answer to a request for the known providers.
    static let supported: JSONObject = [
        "defaultSupportedIdps": .array(knownProviders.map { ["idpId": .string($0), "description": .string($0)] })
    ]

    /// - Throws: `FirebaseError` if a new configuration cannot have this ID.
    func check(id: String?) throws -> String {
        let id = id ?? ""
        switch self {
        case .known:
            guard Self.knownProviders.contains(id) else {
                throw FirebaseError(
                    "INVALID_CONFIG_ID : The provider must be one of \(Self.knownProviders.joined(separator: ", ")).")
            }
        case .oidc, .saml:
            let prefix = self == .oidc ? "oidc." : "saml."
            guard id.hasPrefix(prefix), id.count > prefix.count, id.utf8.count <= 128 else {
                throw FirebaseError("INVALID_CONFIG_ID : The ID must begin with \(prefix) and have at most 128 characters.")
            }
        }
        return id
    }

    /// Checks a configuration as the SDKs do before they send it.
    ///
    /// - Throws: `FirebaseError`.
    func check(_ config: FirebaseInput) throws {
        func requireText(_ config: FirebaseInput?, _ name: String, in place: String = "") throws {
            guard try config?.filled(name) != nil else { throw FirebaseError("INVALID_CONFIG : \(place)\(name) is missing.") }
        }
        func requireURL(_ config: FirebaseInput?, _ name: String, in place: String = "") throws {
            try requireText(config, name, in: place)
            guard let url = try config?.text(name), FirebaseCall.isAbsolute(url) else {
                throw FirebaseError("INVALID_CONFIG : \(place)\(name) must be an absolute URL.")
            }
        }
        _ = try (config.flag("enabled"), config.text("displayName"))
        switch self {
        case .known:
            try requireText(config, "clientId")
        case .oidc:
            guard try config.filled("clientId") != nil else { throw FirebaseError("INVALID_OAUTH_CLIENT_ID : clientId is missing.") }
            try requireURL(config, "issuer")
            let types = try config.object("responseType")
            let usesCode = try types?.flag("code") ?? false
            if usesCode, try types?.flag("idToken") ?? false {
                throw FirebaseError("INVALID_CONFIG : Only one of responseType.code and responseType.idToken can be true.")
            }
            if usesCode, try config.filled("clientSecret") == nil {
                throw FirebaseError("INVALID_CONFIG : clientSecret is missing, which responseType.code requires.")
            }
        case .saml:
            let (idp, sp) = (try config.object("idpConfig"), try config.object("spConfig"))
            try requireText(idp, "idpEntityId", in: "idpConfig.")
            try requireURL(idp, "ssoUrl", in: "idpConfig.")
            let certificates = try idp?.objects("idpCertificates") ?? []
            guard !certificates.isEmpty, try certificates.allSatisfy({ try $0.filled("x509Certificate") != nil }) else {
                throw FirebaseError("INVALID_CONFIG : idpConfig.idpCertificates needs at least one x509Certificate.")
            }
            try requireText(sp, "spEntityId", in: "spConfig.")
            try requireURL(sp, "callbackUri", in: "spConfig.")
        }
    }
}

/// The configurations of identity providers. They are stored for the SDKs; in `compat.http`, sign-ins use the tenant's `idp.*`
/// configuration.
extension FirebaseCall {
    func provider(_ kind: FirebaseProviderKind, _ id: String?) throws -> JSONObject {
        guard isAdmin else { throw FirebaseError.noCredential }
        _ = try tenantRecord()
        let base = "projects/\(project)" + (firebaseTenant.map { "/tenants/\($0)" } ?? "") + "/\(kind.rawValue)"
        func shown(_ id: String, _ record: JSONObject) -> JSONObject {
            var answer = record
            answer["name"] = .string("\(base)/\(id)")
            return answer
        }
        guard let id else {
            switch request.method {
            case "GET":
                let limit = query("pageSize").map { Int($0) ?? -1 } ?? 0
                guard (0...100).contains(limit) else { throw FirebaseError("INVALID_PAGE_SELECTION") }
                let (page, next) = try page(of: kind.rawValue, limit == 0 ? 100 : limit)
                var answer: JSONObject = [:]
                if !page.isEmpty { answer[kind.rawValue] = .array(page.map { .object(shown($0.id, $0.value)) }) }
                answer["nextPageToken"] = next.map { .string($0) }
                return answer
            case "POST":
                // The ID of a known provider can be in the name of the body.
                let id = try kind.check(id: query(kind.parameter) ?? body.text("name")?.split(separator: "/").last.map(String.init))
                return shown(id, try create(kind, id))
            default: throw FirebaseError.notFound
            }
        }
        guard let record = try stored(kind.rawValue, id) else {
            throw FirebaseError("CONFIGURATION_NOT_FOUND", status: 404, name: "NOT_FOUND")
        }
        switch request.method {
        case "GET": return shown(id, record)
        case "PATCH":
            var changed = merged(record, with: body.members)
            changed["name"] = nil
            changed["responseType"] = Self.used(changed["responseType"])
            let made = changed
            try kind.check(FirebaseInput(made))
            try context.database.write { try $0.setVendorRecord(tenantId, kind.rawValue, id, value: made) }
            return shown(id, made)
        case "DELETE":
            try context.database.write { _ = try $0.deleteVendorRecord(tenantId, kind.rawValue, id) }
            return [:]
        default: throw FirebaseError.notFound
        }
    }

    /// Returns the response types that are used: those that are true.
    private static func used(_ types: JSONValue?) -> JSONValue? {
        guard let types = types?.object else { return nil }
        var used = JSONObject()
        for (name, value) in types.members where value == true { used[name] = true }
        return .object(used)
    }

    private func create(_ kind: FirebaseProviderKind, _ id: String) throws -> JSONObject {
        if try stored(kind.rawValue, id) != nil { throw FirebaseError("CONFIGURATION_EXISTS", status: 409, name: "ALREADY_EXISTS") }
        var record = body.members
        record["name"] = nil
        record["enabled"] = record["enabled"] ?? false
        try kind.check(FirebaseInput(record))
        record["responseType"] = Self.used(record["responseType"])
        let made = record
        try context.database.write { try $0.setVendorRecord(tenantId, kind.rawValue, id, value: made) }
        return made
    }

    /// - Throws: `FirebaseError` if an administrator has switched the provider off.
    func requireProvider(_ id: String) throws {
        let kind: FirebaseProviderKind = id.hasPrefix("oidc.") ? .oidc : .known
        if let config = try stored(kind.rawValue, id), config["enabled"] == false {
            throw FirebaseError("OPERATION_NOT_ALLOWED : The provider \(id) is disabled.")
        }
    }

    /// The refusal of a sign-in that this service does not have, in the words of a provider that is not configured.
    static func notSupported(_ provider: String, _ instead: String) -> FirebaseError {
        FirebaseError("OPERATION_NOT_ALLOWED : Sign-in with \(provider) is not supported. \(instead)")
    }

    static let samlRefused = notSupported("SAML providers", "Use an OpenID Connect provider, whose ID begins with oidc.")
    static let gameCenterRefused = notSupported("Game Center", "Use Sign in with Apple.")
}
