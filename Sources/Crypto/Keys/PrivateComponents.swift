import COpenSSL
import JSON
import Platform

/// The numbers of a private key, in big-endian order, as in PKCS #8 and JWK.
enum PrivateComponents {
    /// The private number of a P-256 or P-384 key, and the public point (4, x, y) if the input contained it.
    case ec(Curve, d: SecretBytes, point: [UInt8]?)
    case rsa(RSAComponents)
    /// The seed of an Ed25519 key.
    case ed25519(seed: SecretBytes)

    /// Reads the numbers from an OpenSSL key.
    init(_ handle: KeyHandle, _ material: JWK.Material) {
        switch material {
        case .ec(let curve, _, _):
            self = .ec(curve, d: handle.number("priv", count: curve.coordinateCount), point: handle.point(curve))
        case .rsa:
            self = .rsa(RSAComponents { handle.number($0.openSSLName.description) })
        case .ed25519:
            self = .ed25519(
                seed: SecretBytes(count: 32) { seed in
                    var count = 32
                    if EVP_PKEY_get_raw_private_key(handle.pointer, seed.bytes, &count) != 1 { cannotContinue("read a private key") }
                })
        }
    }

    /// Parses the private members of a JWK.
    init(jwk node: JSONNode, _ material: JWK.Material) throws(KeyError) {
        switch material {
        case .ec(let curve, let x, let y):
            guard curve.canSign else { throw .unsupportedCurve(curve.rawValue) }
            self = .ec(curve, d: SecretBytes(try node.bytes("d", count: curve.coordinateCount)), point: [4] + x + y)
        case .rsa:
            // Keys with more than two primes are not used in practice.
            if node["oth"] != nil { throw .malformedMember("oth") }
            self = .rsa(
                try RSAComponents { (name: RSAComponents.Name) throws(KeyError) in
                    SecretBytes(try node.unsigned(name.rawValue))
                })
        case .ed25519:
            self = .ed25519(seed: SecretBytes(try node.bytes("d", count: 32)))
        }
    }
}

/// The eight numbers of an RSA key with two primes (RFC 8017 section 3.2), in the order of PKCS #1.
struct RSAComponents {
    /// The name of a number in a JWK (RFC 7518 section 6.3).
    enum Name: String, CaseIterable {
        case n, e, d, p, q, dp, dq, qi

        var openSSLName: StaticString {
            switch self {
            case .n: "n"
            case .e: "e"
            case .d: "d"
            case .p: "rsa-factor1"
            case .q: "rsa-factor2"
            case .dp: "rsa-exponent1"
            case .dq: "rsa-exponent2"
            case .qi: "rsa-coefficient1"
            }
        }
    }

    let numbers: [(name: Name, value: SecretBytes)]

    init<E: Error>(_ value: (Name) throws(E) -> SecretBytes) throws(E) {
        var numbers: [(name: Name, value: SecretBytes)] = []
        for name in Name.allCases { numbers.append((name, try value(name))) }
        self.numbers = numbers
    }

    var n: [UInt8] { numbers[0].value.copy() }
    var e: [UInt8] { numbers[1].value.copy() }
}
