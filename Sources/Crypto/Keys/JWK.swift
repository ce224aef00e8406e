import JSON
import Platform

/// A public key as JSON (RFC 7517), as published at a `jwks_uri`. Its numbers are not checked; `PublicKey` checks them.
public struct JWK: Hashable, Sendable {
    /// The numbers of a key, in big-endian order.
    public enum Material: Hashable, Sendable {
        /// A point on a curve; both coordinates have the full length of the curve.
        case ec(Curve, x: [UInt8], y: [UInt8])
        /// A modulus and an exponent without leading zeros.
        case rsa(n: [UInt8], e: [UInt8])
        /// An Ed25519 point: 32 bytes.
        case ed25519(x: [UInt8])
    }

    /// The numbers of the key.
    public let material: Material
    /// The only algorithm that this key verifies (RFC 8725 section 3.1).
    public let algorithm: SignatureAlgorithm
    /// The `kid`. Defaults to the thumbprint.
    public let keyID: String

    /// Creates a key whose `kid` is its thumbprint. The algorithm must match the material.
    init(_ material: Material, algorithm: SignatureAlgorithm) {
        self.material = material
        self.algorithm = algorithm
        keyID = material.thumbprint
    }

    init(_ material: Material, algorithm: SignatureAlgorithm, keyID: String) {
        self.material = material
        self.algorithm = algorithm
        self.keyID = keyID
    }

    /// The RFC 7638 thumbprint (SHA-256, base64url), which identifies the key by its value.
    public var thumbprint: String { material.thumbprint }

    /// Writes one JSON object with `use`, `alg` and `kid`.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        material.writeMembers(to: &writer)
        writer.key("use")
        writer.string("sig")
        writer.key("alg")
        writer.string(algorithm.rawValue)
        writer.key("kid")
        writer.string(keyID)
        writer.endObject()
    }
}

extension JWK.Material {
    /// Writes the members that RFC 7638 section 3.2 requires, in the required order.
    func writeMembers(to writer: inout JSONWriter) {
        switch self {
        case .ec(let curve, let x, let y):
            writer.key("crv")
            writer.string(curve.rawValue)
            writer.key("kty")
            writer.string("EC")
            writer.key("x")
            writer.string(Base64URL.encode(x))
            writer.key("y")
            writer.string(Base64URL.encode(y))
        case .rsa(let n, let e):
            writer.key("e")
            writer.string(Base64URL.encode(e))
            writer.key("kty")
            writer.string("RSA")
            writer.key("n")
            writer.string(Base64URL.encode(n))
        case .ed25519(let x):
            writer.key("crv")
            writer.string("Ed25519")
            writer.key("kty")
            writer.string("OKP")
            writer.key("x")
            writer.string(Base64URL.encode(x))
        }
    }

    var thumbprint: String {
        var writer = JSONWriter()
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
        return Base64URL.encode(Hash.sha256(writer.bytes))
    }

    /// Returns whether RFC 7518 and RFC 8037 allow the algorithm with this type of key.
    func allows(_ algorithm: SignatureAlgorithm) -> Bool {
        switch self {
        case .ec(let curve, _, _): algorithm == curve.algorithm
        case .rsa: algorithm.padding != nil
        case .ed25519: algorithm == .EdDSA
        }
    }
}
