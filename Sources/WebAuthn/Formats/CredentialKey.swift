import Crypto

/// The public key of a passkey, in the form of COSE (RFC 9052, RFC 9053, RFC 8230).
public struct CredentialKey: Sendable {
    /// The supported algorithms, with their numbers in the COSE registry.
    public enum Algorithm: Int, Sendable, CaseIterable {
        case es256 = -7, es384 = -35, edDSA = -8, rs256 = -257

        var signature: SignatureAlgorithm {
            switch self {
            case .es256: .ES256
            case .es384: .ES384
            case .edDSA: .EdDSA
            case .rs256: .RS256
            }
        }
    }

    public let algorithm: Algorithm
    let material: JWK.Material
    let key: PublicKey

    /// Parses and checks a key.
    ///
    /// - Parameter wasChecked: Whether the key was accepted before; see `PublicKey.init(_:algorithm:wasChecked:)`.
    /// - Throws: `algorithmNotAllowed` for an algorithm that is not supported, `publicKeyInvalid` for a key that the rules refuse.
    public init(cose bytes: [UInt8], wasChecked: Bool = false) throws(PasskeyRefusal) {
        guard let map = CBOR.read(whole: bytes[...])?.map else { throw .key("The public key is not a CBOR map.") }
        guard let number = map[3]?.integer else { throw .key("The public key does not name its algorithm.") }
        guard let algorithm = Algorithm(rawValue: number) else {
            throw PasskeyRefusal(.algorithmNotAllowed, "The algorithm \(number) is not supported.")
        }
        self.algorithm = algorithm
        material =
            switch algorithm {
            case .es256: try Self.elliptic(map, .p256, curveNumber: 1)
            case .es384: try Self.elliptic(map, .p384, curveNumber: 2)
            case .edDSA: try Self.edwards(map)
            case .rs256: try Self.rsa(map)
            }
        do throws(KeyError) {
            key = try PublicKey(material, algorithm: algorithm.signature, wasChecked: wasChecked)
        } catch {
            throw .key("The public key is not valid: \(error).")
        }
    }

    /// Returns whether the key signed exactly this message.
    func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool { key.verify(der: signature, of: message) }

    private static func elliptic(_ map: [CBOR.Key: CBOR], _ curve: Curve, curveNumber: Int) throws(PasskeyRefusal) -> JWK.Material {
        guard map[1]?.integer == 2, map[-1]?.integer == curveNumber else { throw .key("The key is not on the curve \(curve.rawValue).") }
        guard map.count == 5, let x = map[-2]?.bytes, let y = map[-3]?.bytes, x.count == curve.coordinateCount, y.count == x.count else {
            throw .key(
                "A key on the curve \(curve.rawValue) has exactly kty, alg, crv, x and y, with \(curve.coordinateCount) bytes each for x and y."
            )
        }
        return .ec(curve, x: x, y: y)
    }

    private static func edwards(_ map: [CBOR.Key: CBOR]) throws(PasskeyRefusal) -> JWK.Material {
        guard map[1]?.integer == 1, map[-1]?.integer == 6 else { throw .key("The key is not an Ed25519 key.") }
        guard map.count == 4, let x = map[-2]?.bytes, x.count == 32 else {
            throw .key("An Ed25519 key has exactly kty, alg, crv and x, with 32 bytes for x.")
        }
        guard !SmallOrderPoints.contains(x) else { throw .key("The point of the key has a small order.") }
        return .ed25519(x: x)
    }

    private static func rsa(_ map: [CBOR.Key: CBOR]) throws(PasskeyRefusal) -> JWK.Material {
        guard map[1]?.integer == 3, map.count == 4, let n = map[-1]?.bytes, let e = map[-2]?.bytes else {
            throw .key("An RSA key has exactly kty, alg, n and e.")
        }
        guard let first = n.first, first != 0, (2048...4096).contains(n.count * 8 - first.leadingZeroBitCount) else {
            throw .key("The modulus of an RSA key must have 2,048 to 4,096 bits and no leading zero byte.")
        }
        guard (1...4).contains(e.count), e.first != 0, e.last! & 1 == 1, e != [1] else {
            throw .key("The exponent of an RSA key must be odd and between 3 and 4,294,967,295.")
        }
        return .rsa(n: n, e: e)
    }
}

/// The points of Ed25519 whose order divides 8, with which signatures prove nothing, in all their encodings without the sign bit.
private enum SmallOrderPoints {
    private static let low31 = [UInt8](repeating: 0xFF, count: 30)
    private static let encodings: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF, 0xAC, 0x05, 0xD3,
            0xC6,
            0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20, 0x53, 0xFA, 0x2C,
            0x39,
            0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
        [0xEC] + low31 + [0x7F],
        [0xED] + low31 + [0x7F],
        [0xEE] + low31 + [0x7F],
    ]

    static func contains(_ point: [UInt8]) -> Bool {
        var point = point
        point[31] &= 0x7F
        return encodings.contains(point)
    }
}

extension PasskeyRefusal {
    fileprivate static func key(_ detail: String) -> PasskeyRefusal { PasskeyRefusal(.publicKeyInvalid, detail) }
}
