import JSON

/// A set of public keys (RFC 7517 section 5): what an issuer publishes at its `jwks_uri`.
public struct JWKSet: Sendable {
    /// The usable keys, in their order.
    public let keys: [PublicKey]
    /// Why the others were left out (RFC 7517 section 5 wants unusable keys ignored, not the whole set refused).
    public let refusals: [KeyError]

    /// A set of these keys.
    public init(_ keys: [PublicKey]) {
        self.keys = keys
        refusals = []
    }

    /// Reads a set. At most 100 keys are looked at, so that a hostile set cannot cost seconds of checks.
    ///
    /// - Parameter rsaAlgorithm: what RSA keys without `alg` are for.
    /// - Throws: `KeyError.malformedMember` when there is no array `keys`.
    public init(_ node: JSONNode, rsaAlgorithm: SignatureAlgorithm = .RS256) throws(KeyError) {
        guard let members = node["keys"], members.kind == .array else { throw .malformedMember("keys") }
        var keys: [PublicKey] = []
        var refusals: [KeyError] = []
        members.forEachElement { position, member in
            guard position < 100 else { return }
            do throws(KeyError) {
                keys.append(try PublicKey(jwk: member, rsaAlgorithm: rsaAlgorithm))
            } catch {
                refusals.append(error)
            }
        }
        self.keys = keys
        self.refusals = refusals
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
