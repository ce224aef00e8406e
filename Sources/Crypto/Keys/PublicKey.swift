import COpenSSL
import JSON

/// A public key that passed every check, pinned to one algorithm.
public final class PublicKey: Sendable {
    /// The key as JSON.
    public let jwk: JWK
    let handle: KeyHandle

    /// The only algorithm this key verifies.
    public var algorithm: SignatureAlgorithm { jwk.algorithm }
    /// The `kid` under which the key was published.
    public var keyID: String { jwk.keyID }

    /// Checks a key: the point lies on its curve, the RSA modulus has 2,048 to 8,192 bits and is not of the ROCA form, and its
    /// exponent is odd and short. An Ed25519 value that is no point passes and verifies nothing.
    ///
    /// Takes up to a few milliseconds for an RSA key; keep what you made.
    public init(_ jwk: JWK) throws(KeyError) {
        self.jwk = jwk
        handle = try jwk.material.makeHandle()
        if case .ed25519 = jwk.material { return }
        guard handle.passes(EVP_PKEY_public_check) else { throw .invalidPublicKey }
    }

    /// Reads and checks a JWK; see `JWK.init(_:rsaAlgorithm:)`.
    public convenience init(jwk node: JSONNode, rsaAlgorithm: SignatureAlgorithm = .RS256) throws(KeyError) {
        try self.init(JWK(node, rsaAlgorithm: rsaAlgorithm))
    }

    /// The public part of a key that was checked as a whole.
    init(of key: PrivateKey) {
        jwk = key.jwk
        handle = key.handle
    }
}

extension JWK.Material {
    fileprivate func makeHandle() throws(KeyError) -> KeyHandle {
        let handle: KeyHandle?
        switch self {
        case .ec(let curve, let x, let y):
            var parameters = ParameterList()
            parameters.text("group", curve.groupName)
            parameters.octets("pub", [4] + x + y)
            handle = KeyHandle.make(type: "EC", .publicPart, parameters)
        case .rsa(let n, let e):
            try requireAcceptableRSA(n: n, e: e)
            // Keys of this store are not asked: one in 2^27 of them looks like that by chance.
            if WeakPrimes.made(n) { throw .weakModulus }
            var parameters = ParameterList()
            parameters.number("n", n)
            parameters.number("e", e)
            handle = KeyHandle.make(type: "RSA", .publicPart, parameters)
        case .ed25519(let x):
            handle = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, x, x.count).map(KeyHandle.init)
        }
        guard let handle else {
            ERR_clear_error()
            throw .invalidPublicKey
        }
        return handle
    }
}

/// RFC 7518 section 3.3: at least 2,048 bits. The other limits keep a hostile key from costing seconds for a verification.
func requireAcceptableRSA(n: [UInt8], e: [UInt8]) throws(KeyError) {
    let bits = n.first.map { n.count * 8 - $0.leadingZeroBitCount } ?? 0
    guard (2048...8192).contains(bits) else { throw .unacceptableModulus(bits: bits) }
    guard e.count <= 8, let last = e.last, last & 1 == 1, e != [1] else { throw .unacceptableExponent }
}
