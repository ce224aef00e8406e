import COpenSSL

/// HKDF with SHA-256 (RFC 5869), which derives several keys from one secret.
public enum HKDF {
    /// Derives `count` bytes.
    ///
    /// - Parameters:
    ///   - secret: The secret from which the key is derived; not empty.
    ///   - salt: A new value for every key, or empty.
    ///   - info: The purpose of the key; at most 1,024 bytes.
    ///   - count: 1 to 8,160 bytes.
    public static func sha256(secret: SecretBytes, salt: [UInt8], info: [UInt8], count: Int) -> SecretBytes {
        precondition(secret.count > 0 && info.count <= 1024 && (1...255 * 32).contains(count), "HKDF's limits (RFC 5869 section 2.3)")
        guard let context = EVP_KDF_CTX_new(FetchedAlgorithm.hkdf.pointer) else { cannotContinue("allocate an HKDF") }
        defer { EVP_KDF_CTX_free(context) }
        var parameters = ParameterList()
        parameters.text("digest", "SHA2-256")
        parameters.octets("key", secret)
        if !salt.isEmpty { parameters.octets("salt", salt) }
        if !info.isEmpty { parameters.octets("info", info) }
        return SecretBytes(count: count) { output in
            let start = output.bindMemory(to: UInt8.self).baseAddress
            let done = parameters.withParameters { EVP_KDF_derive(context, start, count, $0) }
            if done != 1 { cannotContinue("derive a key by HKDF") }
        }
    }

    /// Derives `count` bytes for the purpose in `info`.
    public static func sha256(secret: SecretBytes, salt: [UInt8], info: String, count: Int) -> SecretBytes {
        sha256(secret: secret, salt: salt, info: Array(info.utf8), count: count)
    }
}
