import Crypto
import JSON
import Loopback
import Platform

extension TestProvider {
    /// The maximum size of a registration, in bytes. With the maximum number of clients, it limits the memory that registrations use.
    private static let maximumRegistrationBytes = 16 * 1024

    /// Registers a client (RFC 7591 §3).
    func register(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        try requireRegistration(at: issuer)
        let metadata = try ClientMetadata(try registration(in: request), from: .registration)
        let client = RegisteredClient(
            issuer: issuer.name, id: "client-" + Base64URL.encode(context.random.bytes(15)),
            secret: metadata.needsSecret ? Base64URL.encode(context.random.bytes(32)) : nil,
            accessToken: Base64URL.encode(context.random.bytes(32)), issuedAt: context.clock.now, metadata: metadata)
        memory.withLock { $0.registrations[client.id] = client }
        return LoopbackResponse(json: client.answer(managedAt: address(of: client, at: issuer)), status: 201)
    }

    /// Reads, replaces or deletes a registration (RFC 7592 §2).
    func manageRegistration(at issuer: ProviderIssuer, _ request: ProviderRequest) throws -> LoopbackResponse {
        try requireRegistration(at: issuer)
        let refused = OAuthRefusal("invalid_token", "The registration access token is not valid for this client.")
        guard let token = request.authorization("bearer"), let id = request.path.last,
            let client = memory.withLock({ $0.registrations[id] }), client.issuer == issuer.name,
            constantTimeEquals(token, client.accessToken)
        else { throw refused }
        switch request.method {
        case "PUT":
            let object = try registration(in: request)
            guard object["client_id"]?.string == client.id, object["client_secret"].map({ $0.string == client.secret }) ?? true else {
                throw OAuthRefusal("invalid_client_metadata", "client_id and client_secret must be those of the registration.")
            }
            let metadata = try ClientMetadata(object, from: .registration)
            guard metadata.needsSecret == (client.secret != nil) else {
                throw OAuthRefusal(
                    "invalid_client_metadata",
                    "A client cannot change between a token_endpoint_auth_method with a secret and another one. Register again.")
            }
            var changed = client
            changed.metadata = metadata
            memory.withLock { if $0.registrations[id] != nil { $0.registrations[id] = changed } }
            return LoopbackResponse(json: changed.answer(managedAt: address(of: changed, at: issuer)))
        case "DELETE":
            memory.withLock { $0.registrations[id] = nil }
            return LoopbackResponse(status: 204, headers: [("cache-control", "no-store")])
        default: return LoopbackResponse(json: client.answer(managedAt: address(of: client, at: issuer)))
        }
    }

    private func requireRegistration(at issuer: ProviderIssuer) throws {
        guard issuer.acceptsRegistrations else {
            throw OAuthRefusal(
                "access_denied", "The issuer \(issuer.name) accepts no registrations. Set registration in test.idp.", status: 403)
        }
    }

    private func registration(in request: ProviderRequest) throws -> JSONObject {
        guard request.isJSON else {
            throw OAuthRefusal("invalid_client_metadata", "Send a JSON object: Content-Type must be application/json.")
        }
        guard request.whole.body.count <= Self.maximumRegistrationBytes else {
            throw OAuthRefusal("invalid_client_metadata", "A registration can have at most \(Self.maximumRegistrationBytes) bytes.")
        }
        guard let object = (try? JSONValue(parsing: request.whole.body))?.object else {
            throw OAuthRefusal("invalid_client_metadata", "The body is not a JSON object.")
        }
        return object
    }

    private func address(of client: RegisteredClient, at issuer: ProviderIssuer) -> String {
        "\(issuer.url)/\(ProviderEndpoint.register.rawValue)/\(client.id)"
    }
}
