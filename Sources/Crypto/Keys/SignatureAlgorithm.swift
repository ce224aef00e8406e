/// A signature algorithm for verification (RFC 7518 section 3.1, RFC 8037 section 3.1). The raw value is its name in `alg`.
///
/// `none` and the HMAC algorithms are omitted because they do not prove who signed.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
    case ES256, ES384, ES512
    case RS256, RS384, RS512
    case PS256, PS384, PS512
    case EdDSA

    /// Creates the algorithm for a value of `alg`. `Ed25519` (RFC 9864 section 2.2) is EdDSA with the only supported curve.
    public init?(name: String) { self.init(rawValue: name == "Ed25519" ? "EdDSA" : name) }

    /// A number that no other algorithm has, within this process.
    var number: UInt8 {
        switch self {
        case .ES256: 1
        case .ES384: 2
        case .ES512: 3
        case .RS256: 4
        case .RS384: 5
        case .RS512: 6
        case .PS256: 7
        case .PS384: 8
        case .PS512: 9
        case .EdDSA: 10
        }
    }

    /// The digest to sign; `nil` if the algorithm signs the whole message.
    var digest: (algorithm: FetchedAlgorithm, count: Int)? {
        switch self {
        case .ES256, .RS256, .PS256: (.sha256, 32)
        case .ES384, .RS384, .PS384: (.sha384, 48)
        case .ES512, .RS512, .PS512: (.sha512, 64)
        case .EdDSA: nil
        }
    }

    /// The padding of RSA signatures; `nil` for other keys.
    var padding: RSAPadding? {
        switch self {
        case .RS256, .RS384, .RS512: .pkcs1
        case .PS256, .PS384, .PS512: .pss
        default: nil
        }
    }

    /// The curve of ECDSA signatures; `nil` for other keys.
    var curve: Curve? {
        switch self {
        case .ES256: .p256
        case .ES384: .p384
        case .ES512: .p521
        default: nil
        }
    }
}

/// RSASSA-PKCS1-v1_5 or RSASSA-PSS (RFC 8017 section 8).
enum RSAPadding { case pkcs1, pss }

/// A signature algorithm for signing.
public enum SigningAlgorithm: String, Sendable, CaseIterable {
    case ES256, RS256, RS512, EdDSA, ES384

    /// The corresponding algorithm for verification.
    public var signature: SignatureAlgorithm {
        switch self {
        case .ES256: .ES256
        case .ES384: .ES384
        case .RS256: .RS256
        case .RS512: .RS512
        case .EdDSA: .EdDSA
        }
    }
}
