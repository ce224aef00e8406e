import COpenSSL
import JSON

/// A private key, pinned to the algorithm it signs with.
public final class PrivateKey: Sendable {
    /// The algorithm it signs with.
    public let algorithm: SigningAlgorithm
    /// The public part as JSON; its `kid` is the RFC 7638 thumbprint.
    public let jwk: JWK
    /// The public part, ready to verify.
    public var publicKey: PublicKey { PublicKey(of: self) }
    /// The RFC 7638 thumbprint.
    public var keyID: String { jwk.keyID }

    let handle: KeyHandle
    /// Signs in place of OpenSSL where a signature has to come again.
    let repeatable: RepeatableECDSA?

    private init(_ handle: KeyHandle, _ material: JWK.Material, _ algorithm: SigningAlgorithm, repeatable: RepeatableECDSA? = nil) {
        self.handle = handle
        self.repeatable = repeatable
        self.algorithm = algorithm
        jwk = JWK(material, algorithm: algorithm.signature)
    }

    /// Makes a fresh key. An RSA key takes a noticeable part of a second.
    ///
    /// - Parameter rsaBits: the length of an RSA modulus, 2,048 to 8,192; other kinds have one length.
    /// - Throws: `KeyError.unacceptableModulus`.
    public static func generate(_ algorithm: SigningAlgorithm, rsaBits: Int = 2048) throws(KeyError) -> PrivateKey {
        switch algorithm {
        case .ES256:
            let handle = KeyHandle.generate("EC") { EVP_PKEY_CTX_set_group_name($0, "P-256") }
            return PrivateKey(handle, .ec(.p256, point: handle.point(.p256)), algorithm)
        case .RS256, .RS512:
            guard (2048...8192).contains(rsaBits) else { throw .unacceptableModulus(bits: rsaBits) }
            let handle = KeyHandle.generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(rsaBits)) }
            return PrivateKey(handle, .rsa(n: handle.number("n").copy(), e: handle.number("e").copy()), algorithm)
        case .EdDSA:
            let handle = KeyHandle.generate("ED25519") { _ in 1 }
            return PrivateKey(handle, .ed25519(x: handle.ed25519Public()), algorithm)
        }
    }

    /// Makes a fresh key of what `random` gives, so that a source that repeats itself brings the same key again, and the same signatures.
    ///
    /// - Source: FIPS 186-5 appendix A.2.2 (P-256, by rejection), RFC 8032 section 5.1.5.
    public static func generate(_ algorithm: SigningAlgorithm, from random: some RandomSource) throws(KeyError) -> PrivateKey {
        let draw = random.draw(32)
        guard draw.number != nil else { return try generate(algorithm) }
        switch algorithm {
        case .RS256, .RS512: return try PrivateKey(.rsa(.key(from: SecretBytes(draw.bytes))), algorithm)
        case .EdDSA: return try PrivateKey(.ed25519(seed: SecretBytes(draw.bytes)), algorithm)
        case .ES256:
            var number = draw.bytes
            while true {
                if let key = try? PrivateKey(.p256(d: SecretBytes(number), point: nil), algorithm, repeats: true) { return key }
                number = random.bytes(32)
            }
        }
    }

    /// Reads a DER PKCS #8 key (RFC 5958) of the kind the algorithm needs.
    ///
    /// - Parameter repeats: whether a message that is signed again gets the same signature. Without it ECDSA takes a fresh nonce each
    ///   time, as it should; with it the time it takes tells something of the key, so it is for tests.
    /// - Throws: `KeyError`; `algorithmMismatch` when the key is of another kind.
    public convenience init(pkcs8: SecretBytes, algorithm: SigningAlgorithm, repeats: Bool = false) throws(KeyError) {
        try self.init(PrivateComponents(pkcs8: pkcs8), algorithm, repeats: repeats)
    }

    /// Reads a private JWK (RFC 7518 sections 6.2.2 and 6.3.2, RFC 8037 section 2).
    ///
    /// - Throws: `KeyError`; `algorithmMismatch` when the key is of another kind or its `alg` names another algorithm.
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
        if repeats, case .p256(let number, _) = components { repeatable = RepeatableECDSA(number) }
        self.init(handle, material, algorithm, repeatable: repeatable)
        // The other kinds compute the public part themselves; an RSA key brings both, so it has to show that they fit.
        if case .rsa = material {
            guard let signature = try? sign([]), publicKey.verify(signature, of: []) else { throw .inconsistent }
        }
    }

    /// The DER PKCS #8 encoding, as `openssl pkcs8` reads it.
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
