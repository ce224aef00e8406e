import COpenSSL

extension PrivateComponents {
    /// Creates the OpenSSL key. The public part is computed from the private part if possible.
    func makeHandle() throws(KeyError) -> (KeyHandle, JWK.Material) {
        switch self {
        case .ec(let curve, let d, let stated):
            let point = try Self.point(d, on: curve)
            if let stated, stated != point { throw .inconsistent }
            var parameters = ParameterList()
            parameters.text("group", curve.groupName)
            parameters.octets("pub", point)
            parameters.number("priv", d)
            guard let handle = KeyHandle.make(type: "EC", .pair, parameters),
                handle.passes(EVP_PKEY_private_check)
            else { throw .inconsistent }
            return (handle, .ec(curve, point: point))
        case .rsa(let components):
            let (n, e) = (components.n, components.e)
            try requireAcceptableRSA(n: n, e: e)
            var parameters = ParameterList()
            for (name, value) in components.numbers { parameters.number(name.openSSLName, value) }
            guard let handle = KeyHandle.make(type: "RSA", .pair, parameters) else { throw .inconsistent }
            return (handle, .rsa(n: n, e: e))
        case .ed25519(let seed):
            let key = seed.withUnsafeBytes { EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, $0.bytes, $0.count) }
            guard let key else {
                ERR_clear_error()
                throw .inconsistent
            }
            let handle = KeyHandle(key)
            return (handle, .ed25519(x: handle.ed25519Public()))
        }
    }

    /// Returns the public point of a private number: 4, x, y.
    private static func point(_ d: SecretBytes, on curve: Curve) throws(KeyError) -> [UInt8] {
        let group = EC_GROUP_new_by_curve_name(curve.identifier)
        let point = group.flatMap { EC_POINT_new($0) }
        let number = d.withUnsafeBytes { BN_bin2bn($0.bytes, Int32($0.count), nil) }
        defer {
            BN_clear_free(number)
            EC_POINT_free(point)
            EC_GROUP_free(group)
        }
        guard let group, let point, let number else { cannotContinue("allocate a point") }
        let count = 1 + 2 * curve.coordinateCount
        let encoded = [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            guard EC_POINT_mul(group, point, number, nil, nil, nil) == 1 else { return }
            initialized = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, bytes.baseAddress, count, nil)
        }
        guard encoded.count == count else {
            ERR_clear_error()
            throw .inconsistent
        }
        return encoded
    }
}

extension Curve {
    /// OpenSSL's number for the curve.
    var identifier: Int32 {
        switch self {
        case .p256: NID_X9_62_prime256v1
        case .p384: NID_secp384r1
        case .p521: NID_secp521r1
        }
    }
}
