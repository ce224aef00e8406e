import JSON

/// A set of public keys (RFC 7517 section 5): what an issuer publishes at its `jwks_uri`.
public struct JWKSet: Sendable {
    /// The usable keys, in their order.
    public let keys: [PublicKey]
    /// Why the others were left out (RFC 7517 section 5 wants unusable keys ignored, not the whole set refused).
    public let refusals: [KeyError]
    /// The `kid`s of the RSA keys that were left out because they are too weak, with the reasons.
    private let weakKeys: [String: KeyError]

    /// A set of these keys.
    public init(_ keys: [PublicKey]) {
        self.keys = keys
        refusals = []
        weakKeys = [:]
    }

    /// What checking all keys of a set may cost, in checks of a 2,048-bit RSA key (4 ms each). A hostile set of the longest
    /// keys would take half a minute.
    static let budget = 128

    /// Reads a set. Keys beyond the budget are left out: that is after 128 common keys, 16 RSA keys of 4,096 bits or 2 of 8,192.
    ///
    /// - Parameter rsaAlgorithm: what RSA keys without `alg` are for.
    /// - Throws: `KeyError.malformedMember` when there is no array `keys`.
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

    /// The key a header asks for: the one with its `kid`, preferably for its `alg`; without `kid`, the only one for its `alg`.
    public func key(for header: JWSHeader) -> PublicKey? {
        guard let keyID = header.keyID else {
            let fitting = keys.filter { $0.algorithm == header.algorithm }
            return fitting.count == 1 ? fitting[0] : nil
        }
        let named = keys.filter { $0.keyID == keyID }
        return named.first { $0.algorithm == header.algorithm } ?? named.first
    }

    /// Why the key that a header asks for was left out, if that is because it is a weak RSA key.
    public func weakness(ofKeyFor header: JWSHeader) -> KeyError? { header.keyID.flatMap { weakKeys[$0] } }

    /// A key whose `kid` and algorithm another one has too, so that no header can tell them apart.
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
    /// What `PublicKey.init` takes, in checks of a 2,048-bit RSA key: the cube of an RSA key's length.
    fileprivate var checkCost: Int {
        guard case .rsa(let n, _) = self else { return 1 }
        let lengths = (min(n.count, 1024) + 255) / 256
        return max(1, lengths * lengths * lengths)
    }
}
