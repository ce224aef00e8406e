import Crypto
import JSON
import Platform

/// The keys of an issuer as it published them.
struct PublishedKeys: Sendable {
    let set: JWKSet
    /// The time for which the keys can be used without another request, in seconds.
    let lifetimeSeconds: Int
}

/// Fetches the documents of an issuer: the discovery document (OpenID Connect Discovery 1.0 section 4) and the key set that it names (RFC
/// 7517 section 5).
struct IssuerDocuments {
    let client: any HTTPClient
    let address: IssuerAddress
    let isCancelled: @Sendable () -> Bool

    /// The time limit for both requests together.
    static let timeoutMilliseconds = 10_000
    /// The cache lifetime of keys if the response does not specify one, and the bounds for the specified lifetime, in seconds.
    static let (usualLifetime, lifetimes) = (3600, 300...86_400)

    /// - Throws: `IssuerFailure`; no part of the responses is used in this case.
    func fetch() throws(IssuerFailure) -> PublishedKeys {
        let deadline = deadline()
        if let url = address.keySetURL { return try publishedKeys(at: url, address.policy, until: deadline) }
        return try publishedKeys(of: try description(until: deadline).document, until: deadline)
    }

    /// Fetches only the discovery document.
    ///
    /// - Throws: `IssuerFailure`.
    func describe() throws(IssuerFailure) -> PublishedDescription { try description(until: deadline()) }

    /// Fetches all documents, and returns those that were received before a failure.
    func inspect() -> IssuerInspection {
        let deadline = deadline()
        var inspection = IssuerInspection()
        do throws(IssuerFailure) {
            if let url = address.keySetURL {
                inspection.keys = try publishedKeys(at: url, address.policy, until: deadline).set
                return inspection
            }
            let description = try description(until: deadline).document
            inspection.description = description
            inspection.keys = try publishedKeys(of: description, until: deadline).set
        } catch { inspection.failure = error }
        return inspection
    }

    private func deadline() -> UInt64 { Monotonic.nanoseconds() + UInt64(Self.timeoutMilliseconds) * 1_000_000 }

    private func description(until deadline: UInt64) throws(IssuerFailure) -> PublishedDescription {
        let (description, response) = try object(at: address.discoveryURL, "the discovery document", address.policy, until: deadline)
        try checkIssuer(of: description)
        return PublishedDescription(document: description, lifetimeSeconds: Self.lifetime(response))
    }

    private func publishedKeys(of description: JSONNode, until deadline: UInt64) throws(IssuerFailure) -> PublishedKeys {
        guard let url = description["jwks_uri"]?.string, !url.isEmpty else {
            throw IssuerFailure(.document, "The discovery document contains no jwks_uri.")
        }
        return try publishedKeys(at: url, address.policy(forNamed: url), until: deadline)
    }

    private func publishedKeys(at url: String, _ policy: HTTPPolicy, until deadline: UInt64) throws(IssuerFailure) -> PublishedKeys {
        let (set, response) = try object(at: url, "the key set", policy, until: deadline)
        return PublishedKeys(set: try keys(set), lifetimeSeconds: Self.lifetime(response))
    }

    private static func lifetime(_ response: HTTPResponse) -> Int {
        min(max(response.maxAgeSeconds ?? usualLifetime, lifetimes.lowerBound), lifetimes.upperBound)
    }

    private func object(
        at url: String, _ what: String, _ policy: HTTPPolicy, until deadline: UInt64
    ) throws(IssuerFailure) -> (JSONNode, HTTPResponse) {
        var policy = policy
        let now = Monotonic.nanoseconds()
        policy.timeoutMilliseconds = now < deadline ? max(1, Int((deadline - now) / 1_000_000)) : 1
        let response: HTTPResponse
        do throws(HTTPFailure) {
            response = try client.send(
                HTTPRequest(url: url, headers: [("Accept", "application/json")], policy: policy, isCancelled: isCancelled))
        } catch { throw IssuerFailure(error) }
        guard response.status == 200 else { throw IssuerFailure(status: response.status, to: "a request for \(what)") }
        let body = Result { try JSONText(response.body).root }
        switch body {
        case .success(let node) where node.kind == .object: return (node, response)
        case .failure(let error) where response.contentType?.includes("json") == true:
            throw IssuerFailure(.document, "The response for \(what) is not valid JSON: \(error).")
        case .success, .failure: break
        }
        let type = response.contentType.map { "; its type is \(quoted($0))" } ?? ""
        throw IssuerFailure(.document, "The response for \(what) is not a JSON object\(type).")
    }

    /// Checks that the issuer is identical to the requested one. Otherwise one issuer could impersonate another (OpenID Connect Discovery
    /// 1.0 section 4.3).
    private func checkIssuer(of description: JSONNode) throws(IssuerFailure) {
        guard let issuer = description["issuer"]?.string else { throw IssuerFailure(.issuer, "The discovery document contains no issuer.") }
        guard issuer.hasBytes(of: address.issuer) else {
            throw IssuerFailure(
                .issuer,
                "The issuer in the discovery document is \(quoted(issuer)), not \(quoted(address.issuer)). They must be identical.")
        }
    }

    /// The maximum number of keys of one kind, as in AWS IAM.
    private static let maximumKeys = 100

    private func keys(_ node: JSONNode) throws(IssuerFailure) -> JWKSet {
        for kind in ["RSA", "EC"] {
            var count = 0
            node["keys"]?.forEachElement { if $1.kind == .object, $1["kty"]?.string == kind { count += 1 } }
            if count > Self.maximumKeys {
                throw IssuerFailure(.keys, "The key set has \(count) \(kind) keys; at most \(Self.maximumKeys) are accepted.")
            }
        }
        let set: JWKSet
        do throws(KeyError) { set = try JWKSet(node) } catch { throw IssuerFailure(.keys, "The key set contains no array of keys.") }
        guard !set.keys.isEmpty else {
            let why = set.refusals.first.map { " (the first: \($0))" } ?? ""
            throw IssuerFailure(.keys, "The key set has \(set.refusals.count) keys, none of which can verify signatures\(why).")
        }
        if let key = set.repeated {
            throw IssuerFailure(.keys, "The key set has two keys with the kid \(quoted(key.keyID)).")
        }
        return set
    }
}

/// Returns external text for use in a message: only printable characters, and at most 200.
private func quoted(_ text: String) -> String {
    let readable = String(String.UnicodeScalarView(text.unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }.prefix(200)))
    return "'\(readable)'"
}
