import COpenSSL
import Platform

extension PublicKey {
    /// Parses a DER SubjectPublicKeyInfo (RFC 5280 section 4.1).
    ///
    /// - Parameter rsaAlgorithm: The algorithm of an RSA key.
    public convenience init(spki: [UInt8], rsaAlgorithm: SignatureAlgorithm = .RS256) throws(KeyError) {
        let handle: KeyHandle? = spki.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            guard let key = d2i_PUBKEY(nil, &position, bytes.count) else { return nil }
            let handle = KeyHandle(key)
            return position == bytes.baseAddress! + bytes.count ? handle : nil
        }
        ERR_clear_error()
        guard let handle else { throw .malformedEncoding }
        let material = try JWK.Material(handle)
        let algorithm = material.impliedAlgorithm ?? rsaAlgorithm
        guard material.allows(algorithm) else { throw .algorithmMismatch(algorithm) }
        try self.init(JWK(material, algorithm: algorithm))
    }

    /// The DER SubjectPublicKeyInfo.
    public var spki: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(handle.pointer, &bytes)
        guard count > 0, let bytes else { cannotContinue("encode a public key") }
        defer { CRYPTO_free(bytes, #file, Int32(#line)) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// The SubjectPublicKeyInfo as PEM (RFC 7468 section 13), which most tools can read.
    public var pem: String { PEM.encode(spki, label: "PUBLIC KEY") }
}

extension JWK.Material {
    fileprivate init(_ handle: KeyHandle) throws(KeyError) {
        if EVP_PKEY_is_a(handle.pointer, "ED25519") == 1 {
            self = .ed25519(x: handle.ed25519Public())
        } else if EVP_PKEY_is_a(handle.pointer, "RSA") == 1 {
            self = .rsa(n: handle.number("n").copy(), e: handle.number("e").copy())
        } else if EVP_PKEY_is_a(handle.pointer, "EC") == 1 {
            guard let curve = handle.curve else { throw .unsupportedCurve(handle.groupName ?? "") }
            self = .ec(curve, point: handle.point(curve))
        } else {
            throw .unsupportedType(EVP_PKEY_get0_type_name(handle.pointer).map { String(cString: $0) } ?? "")
        }
    }

    /// Creates the material from a point in the form 4, x, y.
    static func ec(_ curve: Curve, point: [UInt8]) -> JWK.Material {
        let count = curve.coordinateCount
        return .ec(curve, x: Array(point[1..<1 + count]), y: Array(point[(1 + count)...]))
    }
}

extension KeyHandle {
    /// The name of the curve in OpenSSL, or `nil` if it has none.
    fileprivate var groupName: String? {
        var name = [CChar](repeating: 0, count: 80)
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else {
            ERR_clear_error()
            return nil
        }
        return name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    fileprivate var curve: Curve? {
        switch groupName {
        case "prime256v1": .p256
        case "secp384r1": .p384
        case "secp521r1": .p521
        default: nil
        }
    }
}

extension SecretBytes {
    /// Returns a copy as an array, for numbers that are public.
    func copy() -> [UInt8] { withUnsafeBytes { Array($0) } }
}
