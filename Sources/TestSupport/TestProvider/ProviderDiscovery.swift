import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import SigningKeys

extension TestProvider {
    /// Returns the configured issuers and that of the default tenant.
    ///
    /// - Parameter first: The names of the issuers that come first. If empty, the default tenant comes first.
    func addresses(first: [String] = []) -> [TestIssuerAddress] {
        let first = first.isEmpty ? [TenantRecord.defaultId] : first
        var known: Set<String> = []
        return (first + named.map(\.name) + [TenantRecord.defaultId]).filter { known.insert($0).inserted }.map { name in
            let url = "\(baseURL ?? "")/\(name)"
            let settings = settings(of: name)
            return TestIssuerAddress(
                name: name, tenantId: settings.tenantId ?? name, issuer: url,
                discoveryUrl: "\(url)/\(ProviderEndpoint.discovery.rawValue)", jwksUrl: "\(url)/\(ProviderEndpoint.jwks.rawValue)",
                resources: settings.resourceAddresses(at: url))
        }
    }

    /// Returns the discovery document (OpenID Connect Discovery §3, RFC 8414 §2).
    func discovery(of issuer: ProviderIssuer) throws -> JSONObject {
        let algorithms = Set(try ring(of: issuer).published(at: context.clock.now).map(\.algorithm.rawValue)).sorted()
        func url(_ endpoint: ProviderEndpoint) -> JSONValue { .string("\(issuer.url)/\(endpoint.rawValue)") }
        func list(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
        let authentication = ["client_secret_basic", "client_secret_post", ClientAssertion.method, "none"]
        var document: JSONObject = [
            "issuer": .string(issuer.url), "authorization_endpoint": url(.authorize), "token_endpoint": url(.token),
            "userinfo_endpoint": url(.userinfo), "jwks_uri": url(.jwks), "introspection_endpoint": url(.introspect),
            "revocation_endpoint": url(.revoke), "end_session_endpoint": url(.logout), "device_authorization_endpoint": url(.device),
            "pushed_authorization_request_endpoint": url(.par),
            "require_pushed_authorization_requests": .bool(issuer.settings.requirePushedRequests),
            // The two names that drafts of OAuth 2.0 for First-Party Applications give the endpoint.
            "authorization_challenge_endpoint": url(.challenge), "native_authorization_endpoint": url(.challenge),
            "scopes_supported": list(Scopes.standard + issuer.tenant.scopes + issuer.resourceScopes), "response_types_supported": ["code"],
            "response_modes_supported": ["query", "form_post"], "grant_types_supported": list(ProviderGrantType.allCases.map(\.rawValue)),
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": list(algorithms),
            "token_endpoint_auth_methods_supported": list(authentication), "code_challenge_methods_supported": ["S256"],
            "prompt_values_supported": ["none", "login", "select_account", "consent"],
            "claims_supported": list([
                "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "amr", "sid", "at_hash", "email", "email_verified", "name",
                "given_name", "family_name", "preferred_username", "picture", "updated_at",
            ]),
            "claims_parameter_supported": false, "request_parameter_supported": false, "request_uri_parameter_supported": false,
            "authorization_response_iss_parameter_supported": true,
            "introspection_endpoint_auth_methods_supported": list(authentication),
            "revocation_endpoint_auth_methods_supported": list(authentication),
            "dpop_signing_alg_values_supported": list(DPoPProof.algorithms.map(\.rawValue)),
            "authorization_grant_profiles_supported": list([Self.assertionProfile]),
        ]
        for endpoint in ["token", "introspection", "revocation"] {
            document["\(endpoint)_endpoint_auth_signing_alg_values_supported"] = list(ClientAssertion.algorithms.map(\.rawValue))
        }
        if issuer.acceptsRegistrations { document["registration_endpoint"] = url(.register) }
        if issuer.acceptsDocuments { document["client_id_metadata_document_supported"] = true }
        document["protected_resources"] = issuer.settings.resources.map { list($0.map(\.resource)) }
        return document
    }

    /// Returns the published keys of the tenant (RFC 7517 §5).
    func jwks(of issuer: ProviderIssuer) throws -> JSONObject {
        let keys = try ring(of: issuer).published(at: context.clock.now).map { key in
            var writer = JSONWriter()
            key.publicJwk.write(to: &writer)
            return try JSONValue(parsing: writer.bytes)
        }
        return ["keys": .array(keys)]
    }

    /// Returns the keys of the tenant. Creates the first key if the tenant has none.
    private func ring(of issuer: ProviderIssuer) throws -> KeyRing {
        _ = try SignInCompletion(context, configurations).signingKey(of: issuer.tenant, at: context.clock.now)
        return try context.database.read { try configurations.signingKeys.ring(of: .tenant(issuer.tenant.id), in: $0) }
    }

    static func escaped(_ text: String) -> String { Markup.escaped(text) }
}
