import JSON

/// A set of public keys (RFC 7517 section 5), as an issuer publishes it at its `jwks_uri`.
public struct JWKSet: Sendable {
    /// The usable keys, in their original order.
    public let keys: [PublicKey]
    /// The reasons for which other keys were ignored. RFC 7517 section 5 requires that unusable keys are ignored and the set is accepted.
    public let refusals: [KeyError]
    /// The `kid` values of the RSA keys that were ignored because they are too weak, with the reasons.
    private let weakKeys: [String: KeyError]

    /// Creates a set of the given keys.
    public init(_ keys: [PublicKey]) {
        self.keys = keys
        refusals = []
        weakKeys = [:]
    }

    /// The limit for the cost of checking all keys of a set. The unit is the check of a 2,048-bit RSA key (4 ms). Without it, a hostile set
    /// of the longest keys would take half a minute.
    static let budget = 128

    /// Parses a set. Keys beyond the budget are ignored: that is after 128 ordinary keys, 16 RSA keys of 4,096 bits or 2 of 8,192.
    ///
    /// - Parameter rsaAlgorithm: The algorithm of RSA keys without `alg`.
    /// - Throws: `KeyError.malformedMember` if there is no array `keys`.
    public init(_ node: JSONNode, rsaAlgorithm: SignatureAlgorithm = .RS256) throws(KeyError) {
        guard let members = node["keys"], members.kind == .array else { throw .malformedMember("keys") }
        var keys: [PublicKey] = []
        var refusals: [KeyError] = []
        var weakKeys: [String: KeyError] = [:]
        var spent = 0
        members.forEachElement { _, member in
            do throws(KeyError) {
                let jwk = try JWK(member, rsaAlgorithm: rsaAlgorithm)
                spent += jwk.material.checkCost
                guard spent <= Self.budget else { throw .tooMany }
                keys.append(try PublicKey(jwk))
            } catch {
                refusals.append(error)
                if error.isWeakness, let name = member["kid"]?.string { weakKeys[name] = error }
            }
        }
        self.keys = keys
        self.refusals = refusals
        self.weakKeys = weakKeys
    }

    /// Returns the key for a header: the key with its `kid`, preferably with its `alg`. Without `kid`, the only key for its `alg`.
    public func key(for header: JWSHeader) -> PublicKey? {
        guard let keyID = header.keyID else {
            let fitting = keys.filter { $0.algorithm == header.algorithm }
            return fitting.count == 1 ? fitting[0] : nil
        }
        let named = keys.filter { $0.keyID == keyID }
        return named.first { $0.algorithm == header.algorithm } ?? named.first
    }

    /// Returns the reason for which the key of a header was ignored, if it is a weak RSA key.
    public func weakness(ofKeyFor header: JWSHeader) -> KeyError? { header.keyID.flatMap { weakKeys[$0] } }

    /// A key that has the same `kid` and algorithm as another key, so that no header can distinguish them.
    public var repeated: PublicKey? {
        var seen: Set<[String]> = []
        return keys.first { !seen.insert([$0.keyID, $0.algorithm.rawValue]).inserted }
    }

    /// Writes `{"keys":[…]}`.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("keys")
        writer.beginArray()
        for key in keys { key.jwk.write(to: &writer) }
        writer.endArray()
        writer.endObject()
    }
}

extension JWK.Material {
    /// The cost of `PublicKey.init` in checks of a 2,048-bit RSA key: the cube of the length of an RSA key.
    fileprivate var checkCost: Int {
        guard case .rsa(let n, _) = self else { return 1 }
        let lengths = (min(n.count, 1024) + 255) / 256
        return max(1, lengths * lengths * lengths)
    }
}
