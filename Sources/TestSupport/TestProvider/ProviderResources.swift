import Accounts
import Contract
import JSON
import Loopback
import Platform

extension ProviderIssuer {
    /// Returns the audience that a request names with `resource` (RFC 8707 §2) or `audience`, or `nil` if it names none.
    ///
    /// - Throws: `OAuthRefusal` with `invalid_target` if the issuer has resources, and this is none of them.
    func audience(in parameters: ProviderParameters) throws -> String? {
        guard let wanted = parameters["resource"] ?? parameters["audience"] else { return nil }
        guard settings.resources != nil else { return wanted }
        guard let resource = resource(wanted) else {
            throw OAuthRefusal(
                "invalid_target", "\(wanted) is not a resource of the issuer \(name). Add it to its resources in test.idp.")
        }
        return resource.resource
    }

    /// Returns the audience of a token from an earlier grant.
    ///
    /// - Throws: `OAuthRefusal` with `invalid_target` if the request names another resource than the grant.
    func audience(in parameters: ProviderParameters, asGrantedIn grant: ProviderState.Grant) throws -> String? {
        guard let wanted = try audience(in: parameters) else { return grant.audience }
        guard settings.resources != nil, wanted != grant.audience else { return wanted }
        throw OAuthRefusal("invalid_target", "\(wanted) was not granted at sign-in; \(grant.audience ?? "no resource") was.")
    }

    private func resource(_ wanted: String) -> TestResource? {
        let plain = Self.plain(wanted)
        return settings.resources?.first { Self.plain($0.resource) == plain }
    }

    /// Returns a resource identifier as it is compared: the scheme and the host in lower case, and a path of `/` omitted (RFC 3986 §6.2).
    private static func plain(_ resource: String) -> [UInt8] {
        guard let url = try? HTTPURL(resource) else { return Array(resource.utf8) }
        let path = url.path == "/" && url.query == nil && url.fragment == nil ? "" : url.path
        let rest = (url.query.map { "?\($0)" } ?? "") + (url.fragment.map { "#\($0)" } ?? "")
        return Array("\(url.scheme.rawValue)://\(url.host.lowercased()):\(url.effectivePort)\(path)\(rest)".utf8)
    }

    /// Checks that a resource has the requested scopes. A resource without scopes has all.
    ///
    /// - Throws: `OAuthRefusal` with `invalid_scope`.
    func check(_ scopes: Scopes, for audience: String?) throws {
        guard let resources = settings.resources else { return }
        let meant = audience.flatMap(resource).map { [$0] } ?? resources
        guard meant.allSatisfy({ $0.scopes != nil }) else { return }
        let offered = Set(Scopes.standard + tenant.scopes + meant.flatMap { $0.scopes ?? [] })
        let unknown = scopes.names.filter { !offered.contains($0) }
        guard unknown.isEmpty else {
            throw OAuthRefusal("invalid_scope", "The resource does not have the scope \(unknown.joined(separator: " ")).")
        }
    }

    /// The scopes of all resources.
    var resourceScopes: [String] {
        var seen = Set(Scopes.standard + tenant.scopes)
        return (settings.resources ?? []).flatMap { $0.scopes ?? [] }.filter { seen.insert($0).inserted }
    }
}

extension TestIssuer {
    /// Returns the resources with their metadata (RFC 9728 §2), or `nil` if the issuer has none.
    ///
    /// - Parameter url: The URL of the issuer.
    func resourceAddresses(at url: String) -> [TestResourceAddress]? {
        resources.map { resources in
            resources.enumerated().map { position, resource in
                TestResourceAddress(
                    resource: resource.resource, metadataUrl: "\(url)/\(ProviderEndpoint.resourcePrefix)\(position)",
                    metadata: EncodedObject(metadata(of: resource, at: url)))
            }
        }
    }

    func metadata(of resource: TestResource, at url: String) -> JSONObject {
        var metadata: JSONObject = [
            "resource": .string(resource.resource), "authorization_servers": [.string(url)], "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": .array(DPoPProof.algorithms.map { .string($0.rawValue) }),
        ]
        metadata["scopes_supported"] = resource.scopes.map { .array($0.map { .string($0) }) }
        metadata["resource_name"] = resource.name.map { .string($0) }
        if dpop != .optional { metadata["dpop_bound_access_tokens_required"] = true }
        return metadata
    }
}

extension TestIssuer {
    /// Returns the violations in the resources: a resource is an absolute URL without a fragment (RFC 8707 §2), given once.
    func resourceViolations(at pointer: String) -> [Violation] {
        var violations: [Violation] = []
        var known: Set<String> = []
        for (place, resource) in (resources ?? []).enumerated() {
            let url = try? HTTPURL(resource.resource)
            if url == nil || url?.fragment != nil || url?.userInformation != nil || url?.isPlainASCII == false || resource.resource.contains("#") {
                violations.append(
                    Violation(
                        pointer: "\(pointer)/\(place)/resource", rule: "resource",
                        message: "A resource must be an http or https URL without a user name and a fragment."))
            }
            if !known.insert(resource.resource).inserted {
                violations.append(
                    Violation(
                        pointer: "\(pointer)/\(place)/resource", rule: "duplicate",
                        message: "Resource \(resource.resource) occurs twice."))
            }
        }
        return violations
    }
}

extension TestProvider {
    /// Publishes the metadata of a resource, which its server can name in `WWW-Authenticate` (RFC 9728 §5.1).
    func resourceMetadata(of issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        guard let resources = issuer.settings.resources, let number = request.path.last.flatMap({ Int($0) }),
            resources.indices.contains(number)
        else { throw OAuthRefusal("invalid_request", "The issuer \(issuer.name) has no such resource.", status: 404) }
        return LoopbackResponse(json: issuer.settings.metadata(of: resources[number], at: issuer.url))
    }
}
