import Contract
import Crypto
import JSON
import Platform

/// A signed assertion with which a client authenticates (RFC 7523 §2.2 and §3, OpenID Connect Core §9). The client has signed it itself,
/// or another issuer, such as the platform on which the client runs.
struct ClientAssertion: Sendable {
    /// The name of the authentication method.
    static let method = "private_key_jwt"
    /// The value of `client_assertion_type`.
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    static let algorithms = SignatureAlgorithm.allCases
    private static let header = "client-authentication+jwt"
    private static let maximumBytes = 16 * 1024
    /// The maximum time from now to `exp`, in seconds: of an assertion that the client has signed, and of another issuer.
    private static let maximumSeconds: (own: Int64, federated: Int64) = (3_600, 86_400)
    /// The time by which `iat` and `nbf` can be ahead of the clock, in seconds.
    private static let skewSeconds: Int64 = 60

    let jws: JWS
    private let claims: JSONObject
    let issuer: String
    let subject: String
    /// The claim `jti`, which is only required if the client has signed the assertion.
    let id: String?

    /// Whether the client has not signed the assertion itself.
    var isFederated: Bool { !issuer.utf8.elementsEqual(subject.utf8) }

    /// Checks everything that needs neither keys nor a clock.
    ///
    /// - Throws: `OAuthRefusal` with `invalid_client`.
    init(_ text: String) throws {
        do throws(JWSError) { jws = try JWS.parse(text, maximumCount: Self.maximumBytes) } catch {
            throw Self.refusal("it is not a JWT with a signature of a private key: \(error)")
        }
        guard let claims = (try? JSONValue(parsing: jws.payload))?.object else { throw Self.refusal("it has no claims.") }
        guard let issuer = claims["iss"]?.string, let subject = claims["sub"]?.string, !issuer.isEmpty, !subject.isEmpty else {
            throw Self.refusal("its iss and its sub must both be the client ID.")
        }
        (self.claims, self.issuer, self.subject, id) = (claims, issuer, subject, claims["jti"]?.string)
        // A token of another kind that the same key has signed does not authenticate its client (RFC 8725 §3.11).
        let types = isFederated ? ["JWT", "JOSE"] : ["JWT", Self.header]
        guard jws.header.type == nil || types.contains(where: { jws.header.hasType($0) }) else {
            throw Self.refusal("its typ must be \(types.joined(separator: " or ")).")
        }
        guard isFederated || id.map({ 1...256 ~= $0.utf8.count }) == true else {
            throw Self.refusal("its jti must be a string of 1 to 256 bytes.")
        }
    }

    /// Checks that the assertion is one of a client.
    ///
    /// - Throws: `OAuthRefusal` with `invalid_client`.
    func check(client: TestClient) throws {
        let expected = (issuer: client.assertionIssuer ?? client.clientId, subject: client.assertionSubject ?? client.clientId)
        guard issuer.utf8.elementsEqual(expected.issuer.utf8), subject.utf8.elementsEqual(expected.subject.utf8) else {
            throw Self.refusal(
                client.assertionIssuer == nil
                    ? "its iss and its sub must both be the client ID."
                    : "its iss and its sub must be the assertionIssuer and the assertionSubject of the client.")
        }
    }

    /// Verifies the signature with the keys of the client.
    ///
    /// - Parameter algorithm: The algorithm for which the client is registered, if any.
    /// - Throws: `OAuthRefusal` with `invalid_client`.
    func verify(with keys: JWKSet, algorithm: String?) throws {
        if let algorithm, jws.header.algorithm != SignatureAlgorithm(name: algorithm) {
            throw Self.refusal("its alg must be \(algorithm), the token_endpoint_auth_signing_alg of the client.")
        }
        guard let key = keys.key(for: jws.header) else {
            let name = jws.header.keyID.map { "with the kid \($0.prefix(200))" } ?? "for its alg, or several: set kid"
            throw Self.refusal("the client has no usable key \(name).")
        }
        guard (try? jws.verify(with: key)) != nil else { throw Self.refusal("its signature is not that of the client's key.") }
    }

    /// Checks the audience and the times.
    ///
    /// - Parameters:
    ///   - audiences: The accepted values of `aud`. The first is the recommended one.
    ///   - clocks: The clocks that the client can have.
    /// - Throws: `OAuthRefusal` with `invalid_client`.
    func check(audiences: [String], clocks: [Int64]) throws {
        let named = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array.map { $0.map { $0.string ?? "" } } ?? []
        // Another audience could use the assertion here.
        guard !named.isEmpty, named.allSatisfy({ name in audiences.contains { $0.utf8.elementsEqual(name.utf8) } }) else {
            throw Self.refusal("its aud must be \(audiences[0]).")
        }
        func time(_ name: String) throws -> Double? {
            guard let claim = claims[name] else { return nil }
            guard let number = claim.number?.double else { throw Self.refusal("its \(name) must be a number.") }
            return number
        }
        guard let expiresAt = try time("exp") else { throw Self.refusal("its exp is missing.") }
        let longest = isFederated ? Self.maximumSeconds.federated : Self.maximumSeconds.own
        let begins = [try time("iat"), try time("nbf")].compactMap(\.self)
        let reasons = clocks.map { now -> String? in
            if expiresAt <= Double(now) { return "it has expired." }
            if expiresAt > Double(now + longest + Self.skewSeconds) { return "its exp must be at most \(longest) seconds ahead." }
            return begins.contains { $0 > Double(now + Self.skewSeconds) } ? "its iat or nbf is in the future." : nil
        }
        if let reason = reasons[0], !reasons.contains(nil) { throw Self.refusal(reason) }
    }

    static func refusal(_ reason: String) -> OAuthRefusal {
        OAuthRefusal("invalid_client", "The client assertion is not accepted: \(reason)")
    }
}

extension TestProvider {
    /// Authenticates the client that calls an endpoint, with a secret or an assertion (RFC 6749 §2.3, RFC 7523 §2.2).
    ///
    /// - Parameter acceptsAny: Whether an unknown client is accepted.
    /// - Throws: `OAuthRefusal` with `invalid_client` if the client is unknown or does not authenticate as it must.
    func client(
        in request: ProviderRequest, at endpoint: ProviderEndpoint, of issuer: ProviderIssuer, acceptsAny: Bool = false
    ) throws -> ProviderClient {
        let form = request.form
        guard form["client_assertion"] != nil || form["client_assertion_type"] != nil else {
            return try ProviderClient(request, of: issuer, acceptsAny: acceptsAny)
        }
        guard form["client_assertion_type"] == ClientAssertion.type, let text = form["client_assertion"] else {
            throw OAuthRefusal("invalid_request", "client_assertion requires the client_assertion_type \(ClientAssertion.type).")
        }
        if form["client_secret"] != nil || request.authorization("basic") != nil {
            throw OAuthRefusal("invalid_request", "Authenticate the client once: with a secret or with an assertion (RFC 6749 2.3).")
        }
        let assertion = try ClientAssertion(text)
        // Pages of any origin can read the responses, and would learn which ports of this machine are open.
        let mayFetch = request.whole.header("origin") == nil
        let known = acceptsAny ? KnownClient.open(assertion.subject) : try issuer.client(of: assertion, mayFetch: mayFetch)
        guard let known else {
            throw OAuthRefusal("invalid_client", "Unknown client \(assertion.subject). \(issuer.acceptedClients)")
        }
        let id = known.settings.clientId
        if let named = form["client_id"], named != id {
            throw OAuthRefusal("invalid_client", "client_id is not the client of the assertion.")
        }
        let now = context.clock.now
        if !known.isOpen {
            guard let source = known.keys else {
                throw OAuthRefusal("invalid_client", "The client \(id) has no keys, so it cannot use assertions.")
            }
            try assertion.check(client: known.settings)
            let keys = try documents.keys(in: source, for: assertion.jws.header, at: now, mayFetch: mayFetch)
            try assertion.verify(with: keys, algorithm: known.metadata?.signingAlgorithm)
        }
        // A client under test uses the clock of the machine, although the clock of a testing store can differ.
        try assertion.check(
            audiences: [issuer.url] + [.token, endpoint].map { "\(issuer.url)/\($0.rawValue)" }, clocks: [now, SystemClock().now])
        // A platform gives its workload the same token until it expires.
        guard assertion.isFederated || memory.withLock({ $0.proofs.use(assertion, at: issuer.name) }) else {
            throw ClientAssertion.refusal("it was already used. Sign one with another jti for each request.")
        }
        return ProviderClient(id, known)
    }
}

extension ProviderIssuer {
    /// Returns the client of an assertion whose signature is not verified yet, or `nil` if the issuer does not accept it.
    fileprivate func client(of assertion: ClientAssertion, mayFetch: Bool) throws -> KnownClient? {
        let federated = settings.clients?.first {
            $0.assertionIssuer?.utf8.elementsEqual(assertion.issuer.utf8) == true
                && $0.assertionSubject?.utf8.elementsEqual(assertion.subject.utf8) == true
        }
        if let federated { return KnownClient(settings: federated) }
        return try client(assertion.subject, documents: mayFetch ? .fetched : .known)
    }
}
