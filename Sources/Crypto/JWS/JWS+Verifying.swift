/// A JWS whose signature was verified with a key that the caller chose. Only the verifying functions create values of this type.
public struct VerifiedJWS: Sendable {
    /// The protected header.
    public let header: JWSHeader
    /// The signed payload.
    public let payload: [UInt8]
    /// The key that verified the signature.
    public let key: PublicKey

    fileprivate init(_ jws: JWS, _ key: PublicKey) {
        header = jws.header
        payload = jws.payload
        self.key = key
    }
}

extension JWS {
    /// Verifies the signature with the given key.
    ///
    /// - Parameter known: The signatures that are known to be valid; a valid signature is added. With `nil`, every call verifies.
    /// - Throws: `JWSError.algorithmMismatch` or `badSignature`.
    public func verify(with key: PublicKey, unlessKnown known: ValidSignatures? = nil) throws(JWSError) -> VerifiedJWS {
        guard header.algorithm == key.algorithm else {
            throw .algorithmMismatch(header: header.algorithm, key: key.algorithm)
        }
        guard key.verify(signature, of: signingInput, unlessKnown: known) else { throw .badSignature }
        return VerifiedJWS(self, key)
    }

    /// Verifies the signature with the key that the caller returns for the header's `kid`.
    ///
    /// - Parameter key: Returns the key from the issuer's own set, or `nil` if it is missing. Receives `nil` if the header has no `kid`.
    /// - Throws: `JWSError.unknownKey`, `algorithmMismatch` or `badSignature`; any error that `key` throws.
    public func verify(findingKey key: (_ keyID: String?) throws -> PublicKey?) throws -> VerifiedJWS {
        guard let found = try key(header.keyID) else { throw JWSError.unknownKey(keyID: header.keyID) }
        return try verify(with: found)
    }

    /// Verifies the signature with a key of the set; see `JWKSet.key(for:)`.
    public func verify(with keys: JWKSet) throws(JWSError) -> VerifiedJWS {
        guard let key = keys.key(for: header) else { throw .unknownKey(keyID: header.keyID) }
        return try verify(with: key)
    }
}
