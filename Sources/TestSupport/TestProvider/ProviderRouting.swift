import Contract
import JSON
import Loopback
import ServiceContext

extension TestProvider {
    /// Returns the response to any request, including invalid ones.
    func answer(_ request: LoopbackRequest) -> LoopbackResponse {
        do { return try route(try ProviderRequest(request)) } catch {
            return failures.refusal(for: error, of: request).response.readableElsewhere
        }
    }

    private func route(_ request: ProviderRequest) throws -> LoopbackResponse {
        var path = request.path
        // RFC 8414 §3 inserts the name of the document before the path of the issuer.
        if path.count == 3, path[0] == ".well-known" { path = [path[2], path[0], path[1]] }
        guard let name = path.first else { return overview }
        guard let issuer = try issuer(name) else {
            return LoopbackResponse(
                status: 404,
                text: "Unknown issuer \(name): it is neither a tenant of this store nor an issuer given to test.idp.")
        }
        guard let endpoint = ProviderEndpoint(path: path.dropFirst().joined(separator: "/")) else {
            let known = ProviderEndpoint.allCases.map { "\(issuer.url)/\($0.rawValue)" }.joined(separator: "\n")
            return LoopbackResponse(status: 404, text: "There is no endpoint at this address. The issuer \(issuer.url) has\n\(known)")
        }
        // No CORS headers: OAuth 2.0 for First-Party Applications advises against the use in pages.
        if endpoint == .challenge {
            do { return withNonce(try nativeChallenge(at: issuer, request), of: issuer) } catch let refusal as OAuthRefusal {
                return withNonce(refusal.response, of: issuer)
            }
        }
        if request.method == "OPTIONS", !endpoint.isForPeople { return .preflight(for: request.whole) }
        guard endpoint.methods.contains(request.method) else {
            let allowed = endpoint.methods.joined(separator: ", ")
            return LoopbackResponse(status: 405, text: "This endpoint accepts \(allowed).").adding([("allow", allowed)])
        }
        if endpoint.isForPeople { return try page(endpoint, of: issuer, request) }
        let due = memory.withLock { $0.nextError(of: name, at: endpoint.enqueued) }
        do {
            if let due { throw OAuthRefusal(due) }
            return withNonce(try document(endpoint, of: issuer, request), of: issuer).readableElsewhere
        } catch let refusal as OAuthRefusal { return withNonce(refusal.response, of: issuer).readableElsewhere }
    }

    private func document(
        _ endpoint: ProviderEndpoint, of issuer: ProviderIssuer, _ request: ProviderRequest
    ) throws -> LoopbackResponse {
        switch endpoint {
        case .discovery, .metadata: LoopbackResponse(json: try discovery(of: issuer))
        case .jwks, .keys: LoopbackResponse(json: try jwks(of: issuer))
        case .token: try token(of: issuer, request)
        case .userinfo: try userinfo(of: issuer, request)
        case .introspect: try introspect(at: issuer, request)
        case .revoke: try revoke(at: issuer, request)
        case .device: try deviceCodes(of: issuer, request)
        case .authorize: try authorize(at: issuer, request)
        case .challenge: try nativeChallenge(at: issuer, request)
        case .activate: try activate(at: issuer, request)
        case .logout: try logOut(at: issuer, request)
        case .register: try register(at: issuer, request)
        case .registration: try manageRegistration(at: issuer, request)
        case .resource: try resourceMetadata(of: issuer, request)
        case .par: try push(at: issuer, request)
        }
    }

    private func page(_ endpoint: ProviderEndpoint, of issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        do { return try document(endpoint, of: issuer, request) } catch {
            let refusal = failures.refusal(for: error, of: request.whole)
            let next =
                refusal.status < 500
                ? "The app that sent you here must correct its request."
                : "The app is not at fault. Go back and try again in a moment."
            return HTMLPage(
                status: refusal.status, title: "The request failed", sign: .warning,
                content: "<p>\(Self.escaped(refusal.description ?? refusal.code))</p><p>\(next) (\(Self.escaped(refusal.code)))</p>"
            ).response.adding(refusal.headers.filter { $0.name == "retry-after" })
        }
    }

    /// The response for the root path: the list of issuers.
    private var overview: LoopbackResponse {
        let issuers = addresses().map(\.discoveryUrl).joined(separator: "\n")
        return LoopbackResponse(
            status: 200,
            text: "A test OpenID Connect provider, started by test.idp. Each tenant is an issuer. Issuers now:\n\(issuers)")
    }
}

/// The endpoints of an issuer, relative to its URL.
enum ProviderEndpoint: String, CaseIterable, Sendable {
    case discovery = ".well-known/openid-configuration"
    case metadata = ".well-known/oauth-authorization-server"
    case jwks = "jwks"
    case keys = ".well-known/jwks.json"
    case challenge = "authorize-challenge"
    case authorize, token, userinfo, introspect, revoke, device, activate, logout, register, par
    /// The registration of one client.
    case registration = "register/{client_id}"
    /// The metadata of one resource.
    case resource = "protected-resource/{number}"

    static let resourcePrefix = "protected-resource/"
    private static let registrationPrefix = "register/"

    init?(path: String) {
        for (prefix, endpoint) in [(Self.registrationPrefix, Self.registration), (Self.resourcePrefix, Self.resource)]
        where path.hasPrefix(prefix) && path.utf8.count > prefix.utf8.count && !path.dropFirst(prefix.count).contains("/") {
            self = endpoint
            return
        }
        guard let known = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(path.utf8) }) else { return nil }
        self = known
    }

    /// Whether the endpoint shows pages to users.
    var isForPeople: Bool { [.authorize, .activate, .logout].contains(self) }

    /// The allowed methods. HEAD is handled like GET.
    var methods: [String] {
        switch self {
        case .discovery, .metadata, .jwks, .keys, .resource: ["GET"]
        case .token, .introspect, .revoke, .device, .challenge, .register, .par: ["POST"]
        case .registration: ["GET", "PUT", "DELETE"]
        case .authorize, .userinfo, .activate, .logout: ["GET", "POST"]
        }
    }

    /// The name of the endpoint in `test.enqueue`.
    var enqueued: TestAnswerError.Endpoint {
        switch self {
        case .discovery, .metadata, .resource: .discovery
        case .jwks, .keys: .jwks
        case .authorize, .challenge: .authorize
        case .token: .token
        case .userinfo: .userinfo
        case .introspect: .introspect
        case .revoke: .revoke
        case .device, .activate: .device
        case .logout: .logout
        case .par: .par
        case .register, .registration: .register
        }
    }
}
