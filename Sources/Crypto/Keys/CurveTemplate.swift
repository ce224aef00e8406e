import COpenSSL

/// A key with the parameters of a curve and without a point. Copying it and setting the point takes a twentieth of the instructions of a key
/// from numbers, for which OpenSSL computes the parameters of the curve again.
struct CurveTemplate: @unchecked Sendable {
    private let parameters: OpaquePointer

    private static let p256 = CurveTemplate(.p256)
    private static let p384 = CurveTemplate(.p384)
    private static let p521 = CurveTemplate(.p521)

    static func of(_ curve: Curve) -> CurveTemplate {
        switch curve {
        case .p256: p256
        case .p384: p384
        case .p521: p521
        }
    }

    private init(_ curve: Curve) {
        var list = ParameterList()
        list.text("group", curve.groupName)
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { cannotContinue("allocate a context") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        let made = list.withParameters { list in
            EVP_PKEY_fromdata_init(context) == 1
                && EVP_PKEY_fromdata(
                    context, &key, OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS,
                    UnsafeMutablePointer(mutating: list)) == 1
        }
        guard made, let key else { cannotContinue("find the curve \(curve.rawValue)") }
        parameters = key
    }

    /// Returns the key with a point in uncompressed form, or `nil` if the point is not on the curve.
    func publicKey(_ point: [UInt8]) -> KeyHandle? {
        guard let key = EVP_PKEY_dup(parameters) else { cannotContinue("copy a key") }
        let handle = KeyHandle(key)
        return EVP_PKEY_set1_encoded_public_key(key, point, point.count) == 1 ? handle : nil
    }
}
