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
        if count <= 32 { return oneBlock(secret: secret, salt: salt, info: info, count: count) }
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

    /// Derives up to 32 bytes with two HMACs (RFC 5869 sections 2.2 and 2.3), whose context the thread keeps. OpenSSL's HKDF finds its
    /// digest and its HMAC again for every key, which takes longer than the computation.
    private static func oneBlock(secret: SecretBytes, salt: [UInt8], info: [UInt8], count: Int) -> SecretBytes {
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt
        let key = SecretBytes(count: 32) { output in
            secret.withUnsafeBytes { secret in salt.withUnsafeBytes { HMAC.sha256(key: $0, secret, into: output) } }
        }
        let block = SecretBytes(count: 32) { output in
            key.withUnsafeBytes { key in (info + [1]).withUnsafeBytes { HMAC.sha256(key: key, $0, into: output) } }
        }
        guard count < 32 else { return block }
        return SecretBytes(count: count) { output in block.withUnsafeBytes { output.copyMemory(from: .init(rebasing: $0[..<count])) } }
    }

    /// Derives `count` bytes for the purpose in `info`.
    public static func sha256(secret: SecretBytes, salt: [UInt8], info: String, count: Int) -> SecretBytes {
        sha256(secret: secret, salt: salt, info: Array(info.utf8), count: count)
    }
}
