/// The reason a key was rejected.
public enum KeyError: Error, Hashable, Sendable {
    /// A member of a JWK is missing, has the wrong type or length, or is not strict base64url.
    case malformedMember(String)
    /// A `kty` other than EC, RSA and OKP, such as a shared secret (`oct`).
    case unsupportedType(String)
    /// A `crv` other than P-256, P-384, P-521 and Ed25519.
    case unsupportedCurve(String)
    /// An `alg` that is not supported for verification.
    case unsupportedAlgorithm(String)
    /// The requested algorithm, or the one in `alg`, cannot be used with this type of key.
    case algorithmMismatch(SignatureAlgorithm)
    /// `use` or `key_ops` does not allow signatures.
    case notForSignatures
    /// A private key where a public key is expected. The private key has been exposed.
    case privateKeyPublished
    /// The point is not on its curve, or the number is not a public key.
    case invalidPublicKey
    /// An RSA modulus of fewer than 2,048 or more than 8,192 bits.
    case unacceptableModulus(bits: Int)
    /// An RSA exponent that is even, below 3 or longer than 64 bits.
    case unacceptableExponent
    /// An RSA modulus with the ROCA structure (CVE-2017-15361), from which the private key can be computed.
    case weakModulus
    /// The private part does not match the public part.
    case inconsistent
    /// The preceding keys of the set have used up the budget for checks.
    case tooMany
    /// The data is not the DER encoding of a PKCS #8 private key or of a SubjectPublicKeyInfo of a supported type.
    case malformedEncoding

    /// Whether the key is an RSA key that is too weak.
    var isWeakness: Bool {
        switch self {
        case .weakModulus, .unacceptableModulus, .unacceptableExponent: true
        default: false
        }
    }
}
