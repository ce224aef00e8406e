import Contract
import Crypto
import JSON
import Platform

/// The public keys of a client that authenticates with signed assertions (RFC 7523 §2.2).
enum ClientKeySource: Sendable {
    /// The keys, which were checked when the client was configured or registered.
    case keys([JSONObject])
    /// The URL of the key set, which is fetched.
    case url(String)

    private static let maximumKeys = 20
    private static let maximumLength = 2048

    /// Reads the members `jwks` and `jwks_uri` of the metadata of a client (RFC 7591 §2).
    ///
    /// - Throws: `OAuthRefusal` with `invalid_client_metadata`.
    init(metadata: JSONObject) throws {
        func refuse(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_client_metadata", reason) }
        func member(_ name: String) -> JSONValue? { metadata[name].flatMap { $0.isNull ? nil : $0 } }
        switch (member("jwks"), member("jwks_uri")) {
        case (nil, nil): throw refuse("\(ClientAssertion.method) requires jwks or jwks_uri.")
        case (_?, _?): throw refuse("jwks and jwks_uri exclude each other: send one of them.")
        case (let set?, nil):
            let keys = set["keys"]?.array?.compactMap(\.object)
            guard let keys, keys.count == set["keys"]?.array?.count, 1...Self.maximumKeys ~= keys.count else {
                throw refuse("jwks must be a key set (RFC 7517) with 1 to \(Self.maximumKeys) keys.")
            }
            for (number, key) in keys.enumerated() {
                if let flaw = Self.flaw(of: key) { throw refuse("Key \(number) of jwks cannot be used: \(flaw).") }
            }
            self = .keys(keys)
        case (nil, let value?):
            guard let url = value.string else { throw refuse("jwks_uri must be a string.") }
            if let flaw = Self.flaw(ofURL: url) { throw refuse("jwks_uri \(flaw)") }
            self = .url(url)
        }
    }

    /// The keys of a client given to `test.idp`, or `nil` if it has none.
    init?(_ client: TestClient) {
        if let keys = client.keys {
            self = .keys(keys)
        } else if let url = client.jwksUri {
            self = .url(url)
        } else {
            return nil
        }
    }

    /// Returns the reason a client cannot have this key.
    static func flaw(of key: JSONObject) -> String? {
        do {
            _ = try PublicKey(jwk: try JSONText(JSONValue.object(key).text).root)
            return nil
        } catch { return "\(error)" }
    }

    /// Returns the reason a key set cannot be at this URL. The address is checked when the set is fetched.
    static func flaw(ofURL text: String) -> String? {
        guard text.utf8.count <= maximumLength, let url = try? HTTPURL(text), url.isPlainASCII else {
            return "must be an http or https URL of at most \(maximumLength) characters."
        }
        if url.userInformation != nil { return "must not contain a user name or a password." }
        if text.contains("#") { return "must not contain a fragment." }
        guard AddressPolicy(allowsInsecureLoopback: true).admitsScheme(of: url) else {
            return "must use https: plain http is allowed only for this machine."
        }
        return nil
    }
}

extension ClientDocuments {
    /// Returns the keys of a client for the signature of an assertion. A key set is fetched again if it does not contain the key.
    ///
    /// - Parameter mayFetch: Whether a key set can be fetched. Otherwise, its last version is used.
    /// - Throws: `OAuthRefusal` with `invalid_client`.
    func keys(in source: ClientKeySource, for header: JWSHeader, at now: Int64, mayFetch: Bool) throws -> JWKSet {
        switch source {
        case .keys(let keys): return try Self.set(JSONValue.object(["keys": .array(keys.map { .object($0) })]).bytes, for: header)
        case .url(let url):
            if let known = knownKeySet(at: url), known.expiresAt > now || !mayFetch {
                let set = try Self.set(known.body, for: header)
                if set.key(for: header) != nil || !mayFetch { return set }
            }
            guard mayFetch else {
                throw OAuthRefusal("invalid_client", "Requests with the header Origin cannot make the provider fetch keys.")
            }
            let answer = try receive(url, "key set", maximumBytes: Self.maximumKeySetBytes)
            let set = try Self.set(answer.body, for: header)
            keep(keySet: answer.body, at: url, until: now + answer.seconds)
            return set
        }
    }

    private static let maximumKeySetBytes = 64 * 1024

    /// Parses a key set. RSA keys without `alg` are keys for the algorithm of the header, if it is one of RSA.
    private static func set(_ body: [UInt8], for header: JWSHeader) throws -> JWKSet {
        do {
            return try JWKSet(try JSONText(body).root, rsaAlgorithm: header.algorithm)
        } catch { throw OAuthRefusal("invalid_client", "The key set of the client is not a JSON object with the list keys.") }
    }
}
