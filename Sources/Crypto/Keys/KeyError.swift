/// Why a key was refused.
public enum KeyError: Error, Hashable, Sendable {
    /// A JWK's member is missing, has the wrong type or length, or is not strict base64url.
    case malformedMember(String)
    /// A `kty` other than EC, RSA and OKP. A shared secret (`oct`) is refused here.
    case unsupportedType(String)
    /// A `crv` other than P-256, P-384, P-521 and Ed25519.
    case unsupportedCurve(String)
    /// An `alg` we do not verify.
    case unsupportedAlgorithm(String)
    /// The algorithm asked for, or named by `alg`, cannot be used with this kind of key.
    case algorithmMismatch(SignatureAlgorithm)
    /// `use` or `key_ops` says the key is for something else than signatures.
    case notForSignatures
    /// A private key stands where a public one is expected; somebody published it.
    case privateKeyPublished
    /// The point is not on its curve, or the number is not a public key.
    case invalidPublicKey
    /// An RSA modulus of fewer than 2,048 or more than 8,192 bits.
    case unacceptableModulus(bits: Int)
    /// An RSA exponent that is even, below 3 or longer than 64 bits.
    case unacceptableExponent
    /// An RSA modulus of the ROCA form (CVE-2017-15361), from which the private key can be computed.
    case weakModulus
    /// The private part does not belong to the public part.
    case inconsistent
    /// The keys before it in a set already cost as much to check as a set may.
    case tooMany
    /// Not the DER encoding of a PKCS #8 private key or of a SubjectPublicKeyInfo of a kind we use.
    case malformedEncoding

    /// Whether the key is an RSA key that is too weak.
    var isWeakness: Bool {
        switch self {
        case .weakModulus, .unacceptableModulus, .unacceptableExponent: true
        default: false
        }
    }
}
