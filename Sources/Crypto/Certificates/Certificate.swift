import COpenSSL

/// An X.509 certificate (RFC 5280).
public final class Certificate: @unchecked Sendable {
    // The value is never changed after it was parsed, so that threads can share it.
    private let pointer: OpaquePointer
    /// The DER encoding.
    public let der: [UInt8]

    /// Parses one DER certificate. Returns `nil` if the bytes are anything else, or if a time of the validity is not one (RFC 5280,
    /// section 4.1.2.5), which OpenSSL would notice only while it verifies a chain.
    public init?(der: [UInt8]) {
        let parsed: OpaquePointer? = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            guard let certificate = d2i_X509(nil, &position, bytes.count) else { return nil }
            let hasTimes = ASN1_TIME_check(X509_get0_notBefore(certificate)) == 1 && ASN1_TIME_check(X509_get0_notAfter(certificate)) == 1
            if hasTimes, position == bytes.baseAddress! + bytes.count { return certificate }
            X509_free(certificate)
            return nil
        }
        ERR_clear_error()
        guard let parsed else { return nil }
        pointer = parsed
        self.der = der
    }

    deinit { X509_free(pointer) }

    /// The version as people count it: 3 for certificates with extensions.
    public var version: Int { X509_get_version(pointer) + 1 }

    /// Whether the basic constraints allow the certificate to sign others.
    public var isAuthority: Bool { X509_check_ca(pointer) != 0 }

    /// The values of an attribute of the subject, such as `2.5.4.3` for the common name.
    public func subject(_ objectIdentifier: String) -> [String] {
        guard let name = X509_get_subject_name(pointer), let object = OBJ_txt2obj(objectIdentifier, 1) else { return [] }
        defer { ASN1_OBJECT_free(object) }
        var values: [String] = []
        var index: Int32 = -1
        while true {
            index = X509_NAME_get_index_by_OBJ(name, object, index)
            guard index >= 0, let entry = X509_NAME_get_entry(name, index), let data = X509_NAME_ENTRY_get_data(entry) else {
                return values
            }
            var text: UnsafeMutablePointer<UInt8>?
            let count = ASN1_STRING_to_UTF8(&text, data)
            guard count >= 0, let text else { continue }
            defer { CRYPTO_free(text, #file, Int32(#line)) }
            values.append(String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self))
        }
    }

    /// Whether the subject has no attributes.
    public var hasEmptySubject: Bool { X509_NAME_entry_count(X509_get_subject_name(pointer)) == 0 }

    /// Returns the content of an extension and whether it is critical, or `nil` if the certificate does not have it exactly once.
    public func `extension`(_ objectIdentifier: String) -> (value: [UInt8], isCritical: Bool)? {
        guard let object = OBJ_txt2obj(objectIdentifier, 1) else { return nil }
        defer { ASN1_OBJECT_free(object) }
        let index = X509_get_ext_by_OBJ(pointer, object, -1)
        guard index >= 0, X509_get_ext_by_OBJ(pointer, object, index) < 0, let found = X509_get_ext(pointer, index),
            let data = X509_EXTENSION_get_data(found)
        else { return nil }
        let value = Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data))))
        return (value, X509_EXTENSION_get_critical(found) == 1)
    }

    /// The DER SubjectPublicKeyInfo.
    public var subjectPublicKeyInfo: [UInt8]? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), &bytes)
        guard count > 0, let bytes else { return nil }
        defer { CRYPTO_free(bytes, #file, Int32(#line)) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// The SHA-1 digest of the bits of the public key, by which metadata of U2F devices names a certificate (RFC 5280 section 4.2.1.2).
    public var keyIdentifier: [UInt8]? {
        guard let info = subjectPublicKeyInfo, let parts = ASN1(info)?.elements, parts.count == 2, parts[1].content.first == 0 else {
            return nil
        }
        return Hash.sha1(Array(parts[1].content.dropFirst()))
    }

    /// Returns whether a chain leads from this certificate to one of the roots. Signatures, validity dates and the constraints of the
    /// authorities are checked; revocation lists are not. The certificate itself may be one of the roots.
    ///
    /// - Parameters:
    ///   - intermediates: Further certificates that the chain may use.
    ///   - time: The time of the check, in seconds since 1970.
    public func chains(to roots: [Certificate], through intermediates: [Certificate], at time: Int) -> Bool {
        guard let store = X509_STORE_new(), let context = X509_STORE_CTX_new(), let chain = OPENSSL_sk_new_null() else {
            cannotContinue("verify a certificate")
        }
        defer {
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
            OPENSSL_sk_free(chain)
            ERR_clear_error()
        }
        for root in roots { X509_STORE_add_cert(store, root.pointer) }
        for certificate in intermediates { OPENSSL_sk_push(chain, UnsafeRawPointer(certificate.pointer)) }
        guard X509_STORE_CTX_init(context, store, pointer, chain) == 1 else { return false }
        X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        X509_STORE_CTX_set_time(context, 0, time)
        X509_STORE_CTX_set_depth(context, 8)
        return X509_verify_cert(context) == 1
    }
}
