/// An elliptic curve for ECDSA (RFC 7518 section 6.2.1.1). The raw value is its name in `crv` and in OpenSSL.
public enum Curve: String, Sendable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    /// The number of bytes of one coordinate, and of each half of a signature.
    public var coordinateCount: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// The only algorithm that RFC 7518 section 3.4 allows with this curve.
    public var algorithm: SignatureAlgorithm {
        switch self {
        case .p256: .ES256
        case .p384: .ES384
        case .p521: .ES512
        }
    }

    /// Whether keys of this store can use the curve.
    var canSign: Bool { self != .p521 }

    var groupName: StaticString {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        }
    }
}
