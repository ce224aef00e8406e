import Contract
import Crypto
import Loopback
import Platform

/// The nonces, the used proofs and the used client assertions of the test provider (RFC 9449 §8 and §11.1, RFC 7523 §3).
struct ProofMemory: Sendable {
    /// The lifetime of a nonce before the next one is issued, in seconds. The previous one stays valid.
    static let nonceSeconds: Int64 = 300
    /// The difference of `iat` from the clock that is accepted, in seconds.
    static let skewSeconds: Int64 = 300

    /// The used proofs and assertions. They are kept by number, not by time: with a clock that a test stops or sets, a proof can stay
    /// current.
    private var used = BoundedCache<Bool>(atMost: 100_000)
    private var nonces: [(value: String, issuedAt: Int64)] = []

    /// Returns the nonce for the next proof.
    mutating func nonce(at now: Int64, _ random: any RandomSource) -> String {
        if let last = nonces.last, last.issuedAt <= now, now < last.issuedAt + Self.nonceSeconds { return last.value }
        nonces = nonces.suffix(1) + [(Base64URL.encode(random.bytes(16)), now)]
        return nonces[nonces.count - 1].value
    }

    func isCurrent(_ nonce: String) -> Bool { nonces.contains { $0.value.utf8.elementsEqual(nonce.utf8) } }

    /// Marks a proof as used. Returns `false` if it already was.
    mutating func use(_ proof: DPoPProof) -> Bool { use("\(proof.thumbprint).\(proof.id)") }

    /// Marks the assertion of a client as used at an issuer. Returns `false` if it already was.
    mutating func use(_ assertion: ClientAssertion, at issuer: String) -> Bool {
        // No thumbprint contains a line feed, so no proof has this name.
        use("\n\(issuer)\n\(assertion.subject.utf8.count)\n\(assertion.subject)\(assertion.id ?? "")")
    }

    private mutating func use(_ text: String) -> Bool {
        let name = Base64URL.encode(Hash.sha256(Array(text.utf8)))
        guard used[name] == nil else { return false }
        used[name] = true
        return true
    }
}

extension TestProvider {
    /// Verifies the proof of a request to an endpoint, and marks it as used.
    ///
    /// - Parameter accessToken: The access token that the request contains.
    /// - Returns: The thumbprint of the key, or `nil` if the request has no proof.
    /// - Throws: `OAuthRefusal` with `invalid_dpop_proof` or `use_dpop_nonce`.
    func proof(
        in request: ProviderRequest, to endpoint: ProviderEndpoint, of issuer: ProviderIssuer, accessToken: String? = nil
    ) throws -> String? {
        let headers = request.whole.headers.filter { $0.name == "dpop" }
        guard let header = headers.first else { return nil }
        guard headers.count == 1 else { throw DPoPProof.refusal("The request has several DPoP headers.") }
        let place = "/\(issuer.name)/\(endpoint.rawValue)"
        let named = request.whole.header("host").map { ["http://\($0)\(place)"] } ?? []
        let proof = try DPoPProof(
            header.value, for: .init(method: request.whole.method, urls: [issuer.url + "/\(endpoint.rawValue)"] + named))
        // A client under test uses the clock of the machine, although the clock of a testing store can differ.
        let clocks = [context.clock.now, SystemClock().now]
        guard clocks.contains(where: { ($0 - ProofMemory.skewSeconds)...($0 + ProofMemory.skewSeconds) ~= proof.issuedAt }) else {
            throw DPoPProof.refusal(
                "The iat of the DPoP proof differs from the current time by more than \(ProofMemory.skewSeconds) seconds.")
        }
        if let accessToken {
            guard proof.accessTokenHash == Base64URL.encode(Hash.sha256(Array(accessToken.utf8))) else {
                throw DPoPProof.refusal("The ath of the DPoP proof must be the hash of the access token.")
            }
        }
        if issuer.settings.dpop == .requiredWithNonce {
            let isCurrent = memory.withLock { memory in proof.nonce.map { memory.proofs.isCurrent($0) } ?? false }
            guard isCurrent else {
                throw OAuthRefusal("use_dpop_nonce", "The DPoP proof must contain the nonce in the header DPoP-Nonce of this response.")
            }
        }
        guard memory.withLock({ $0.proofs.use(proof) }) else { throw DPoPProof.refusal("The DPoP proof was already used.") }
        return proof.thumbprint
    }

    /// Checks that a client has sent a proof if the issuer or its metadata require it.
    func requireProof(_ client: ProviderClient, at issuer: ProviderIssuer) throws {
        guard client.thumbprint == nil, issuer.settings.dpop != .optional || client.known.metadata?.requiresProofs == true else { return }
        let binding = issuer.settings.dpop != .optional ? "issuer" : "client"
        throw DPoPProof.refusal("The header DPoP is missing: access tokens of this \(binding) are bound to a key (RFC 9449).")
    }

    /// Adds the next nonce to a response of an issuer that requires nonces (RFC 9449 §8).
    func withNonce(_ response: LoopbackResponse, of issuer: ProviderIssuer) -> LoopbackResponse {
        guard issuer.settings.dpop == .requiredWithNonce else { return response }
        let now = context.clock.now
        return response.adding([("dpop-nonce", memory.withLock { $0.proofs.nonce(at: now, context.random) })])
    }
}
