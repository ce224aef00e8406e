import COpenSSL
import JSON

/// A private key with a fixed signing algorithm.
public final class PrivateKey: Sendable {
    /// The signing algorithm.
    public let algorithm: SigningAlgorithm
    /// The public part as JSON. Its `kid` is the RFC 7638 thumbprint.
    public let jwk: JWK
    /// The public part, for verification.
    public var publicKey: PublicKey { PublicKey(of: self) }
    /// The RFC 7638 thumbprint.
    public var keyID: String { jwk.keyID }

    let handle: KeyHandle
    /// Signs instead of OpenSSL if signatures must be repeatable.
    let repeatable: RepeatableECDSA?

    private init(_ handle: KeyHandle, _ material: JWK.Material, _ algorithm: SigningAlgorithm, repeatable: RepeatableECDSA? = nil) {
        self.handle = handle
        self.repeatable = repeatable
        self.algorithm = algorithm
        jwk = JWK(material, algorithm: algorithm.signature)
    }

    /// Generates a key. Generating an RSA key takes a noticeable fraction of a second.
    ///
    /// - Parameter rsaBits: The length of an RSA modulus, 2,048 to 8,192 bits. Other types have a fixed length.
    /// - Throws: `KeyError.unacceptableModulus`.
    public static func generate(_ algorithm: SigningAlgorithm, rsaBits: Int = 2048) throws(KeyError) -> PrivateKey {
        switch algorithm {
        case .ES256: return generate(.p256, algorithm)
        case .ES384: return generate(.p384, algorithm)
        case .RS256, .RS512:
            guard (2048...8192).contains(rsaBits) else { throw .unacceptableModulus(bits: rsaBits) }
            let handle = KeyHandle.generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(rsaBits)) }
            return PrivateKey(handle, .rsa(n: handle.number("n").copy(), e: handle.number("e").copy()), algorithm)
        case .EdDSA:
            let handle = KeyHandle.generate("ED25519") { _ in 1 }
            return PrivateKey(handle, .ed25519(x: handle.ed25519Public()), algorithm)
        }
    }

    private static func generate(_ curve: Curve, _ algorithm: SigningAlgorithm) -> PrivateKey {
        let handle = KeyHandle.generate("EC") { context in EVP_PKEY_CTX_set_group_name(context, "\(curve.groupName)") }
        return PrivateKey(handle, .ec(curve, point: handle.point(curve)), algorithm)
    }

    /// Generates a key from `random`. A repeatable source results in the same key and in the same signatures.
    ///
    /// - Source: FIPS 186-5 appendix A.2.2 (P-256 and P-384, by rejection), RFC 8032 section 5.1.5.
    public static func generate(_ algorithm: SigningAlgorithm, from random: some RandomSource) throws(KeyError) -> PrivateKey {
        let draw = random.draw(32)
        guard draw.number != nil else { return try generate(algorithm) }
        switch algorithm {
        case .RS256, .RS512: return try PrivateKey(.rsa(.key(from: SecretBytes(draw.bytes))), algorithm)
        case .EdDSA: return try PrivateKey(.ed25519(seed: SecretBytes(draw.bytes)), algorithm)
        case .ES256, .ES384:
            let curve: Curve = algorithm == .ES256 ? .p256 : .p384
            var number = curve == .p256 ? draw.bytes : random.bytes(curve.coordinateCount)
            while true {
                if let key = try? PrivateKey(.ec(curve, d: SecretBytes(number), point: nil), algorithm, repeats: true) { return key }
                number = random.bytes(curve.coordinateCount)
            }
        }
    }

    /// Parses a DER PKCS #8 key (RFC 5958) of the type that the algorithm requires.
    ///
    /// - Parameter repeats: Whether the same message always has the same signature. Otherwise, as recommended, ECDSA uses a new nonce each
    ///   time. Repeatable signatures are for tests only, because the time they take reveals information about the key.
    /// - Throws: `KeyError`; `algorithmMismatch` if the key has another type.
    public convenience init(pkcs8: SecretBytes, algorithm: SigningAlgorithm, repeats: Bool = false) throws(KeyError) {
        try self.init(PrivateComponents(pkcs8: pkcs8), algorithm, repeats: repeats)
    }

    /// Parses a private JWK (RFC 7518 sections 6.2.2 and 6.3.2, RFC 8037 section 2).
    ///
    /// - Throws: `KeyError`; `algorithmMismatch` if the key has another type or its `alg` names another algorithm.
    public convenience init(jwk node: JSONNode, algorithm: SigningAlgorithm) throws(KeyError) {
        let stated = try JWK(publicMembersOf: node, rsaAlgorithm: algorithm.signature)
        guard stated.algorithm == algorithm.signature else { throw .algorithmMismatch(algorithm.signature) }
        try self.init(PrivateComponents(jwk: node, stated.material), algorithm)
        guard jwk.material == stated.material else { throw .inconsistent }
    }

    private convenience init(_ components: PrivateComponents, _ algorithm: SigningAlgorithm, repeats: Bool = false) throws(KeyError) {
        let (handle, material) = try components.makeHandle()
        guard material.allows(algorithm.signature) else { throw .algorithmMismatch(algorithm.signature) }
        var repeatable: RepeatableECDSA?
        if repeats, case .ec(let curve, let number, _) = components { repeatable = RepeatableECDSA(number, on: curve) }
        self.init(handle, material, algorithm, repeatable: repeatable)
        // The public part of other types is computed. An RSA key contains both parts, so a test signature checks that they match.
        if case .rsa = material {
            guard let signature = try? sign([]), publicKey.verify(signature, of: []) else { throw .inconsistent }
        }
    }

    /// The DER PKCS #8 encoding, which `openssl pkcs8` can read.
    public var pkcs8: SecretBytes { PrivateComponents(handle, jwk.material).pkcs8() }
}

extension KeyHandle {
    fileprivate static func generate(_ type: String, _ configure: (OpaquePointer) -> Int32) -> KeyHandle {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { cannotContinue("generate a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, configure(context) == 1, EVP_PKEY_generate(context, &key) == 1, let key
        else { cannotContinue("generate a key") }
        return KeyHandle(key)
    }
}
