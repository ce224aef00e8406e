/// A JWS whose signature was checked against a key the caller chose. Only verification makes one.
public struct VerifiedJWS: Sendable {
    /// The protected header.
    public let header: JWSHeader
    /// The payload the key's owner signed.
    public let payload: [UInt8]
    /// The key that verified it.
    public let key: PublicKey

    fileprivate init(_ jws: JWS, _ key: PublicKey) {
        header = jws.header
        payload = jws.payload
        self.key = key
    }
}

extension JWS {
    /// Checks the signature with this key.
    ///
    /// - Throws: `JWSError.algorithmMismatch` or `badSignature`.
    public func verify(with key: PublicKey) throws(JWSError) -> VerifiedJWS {
        guard header.algorithm == key.algorithm else {
            throw .algorithmMismatch(header: header.algorithm, key: key.algorithm)
        }
        guard key.verify(signature, of: signingInput) else { throw .badSignature }
        return VerifiedJWS(self, key)
    }

    /// Checks the signature with the key the caller knows under the header's `kid`.
    ///
    /// - Parameter key: finds a key in the issuer's own set, nil when there is none. It gets nil when the header names none.
    /// - Throws: `JWSError.unknownKey`, `algorithmMismatch` or `badSignature`; else what `key` throws.
    public func verify(findingKey key: (_ keyID: String?) throws -> PublicKey?) throws -> VerifiedJWS {
        guard let found = try key(header.keyID) else { throw JWSError.unknownKey(keyID: header.keyID) }
        return try verify(with: found)
    }

    /// Checks the signature with a key of this set; see `JWKSet.key(for:)`.
    public func verify(with keys: JWKSet) throws(JWSError) -> VerifiedJWS {
        guard let key = keys.key(for: header) else { throw .unknownKey(keyID: header.keyID) }
        return try verify(with: key)
    }
}
