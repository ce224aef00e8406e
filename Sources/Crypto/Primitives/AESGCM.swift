import COpenSSL

/// AES-256-GCM (NIST SP 800-38D) with 96-bit nonces and 128-bit tags.
public enum AESGCM {
    /// The length of a key, in bytes.
    public static let keyCount = 32
    /// The length of a nonce, in bytes. A nonce must never be used twice with the same key.
    public static let nonceCount = 12
    /// The length of the tag, in bytes.
    public static let tagCount = 16

    /// The reason the decryption failed.
    public enum Refusal: Error, Hashable, Sendable {
        /// The key or the nonce has the wrong length, or the sealed bytes are shorter than a tag.
        case malformed
        /// The key, the nonce or the context is a different one, or the bytes were modified.
        case notAuthentic
    }

    /// Encrypts `plaintext` and authenticates `context`, which is not encrypted. Returns the ciphertext followed by the tag.
    ///
    /// The key must have 32 bytes and the nonce 12.
    public static func seal(
        _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], authenticating context: [UInt8]
    ) -> [UInt8] {
        precondition(key.count == keyCount && nonce.count == nonceCount, "AES-256-GCM takes 32 bytes of key and 12 of nonce")
        let cipher = start(key, nonce, encrypting: true, context: context)
        defer { EVP_CIPHER_CTX_free(cipher) }
        return plaintext.withUnsafeBytes { plaintext in
            let count = plaintext.count
            return [UInt8](unsafeUninitializedCapacity: count + tagCount) { output, initialized in
                var written: Int32 = 0
                let done =
                    (count == 0 || EVP_CipherUpdate(cipher, output.baseAddress, &written, plaintext.bytes, Int32(count)) == 1)
                    && EVP_CipherFinal_ex(cipher, output.baseAddress! + count, &written) == 1
                    && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), output.baseAddress! + count) == 1
                if !done { cannotContinue("seal") }
                initialized = count + tagCount
            }
        }
    }

    /// Decrypts the result of `seal` with the same key, nonce and context.
    public static func open(
        _ sealed: [UInt8], key: SecretBytes, nonce: [UInt8], authenticating context: [UInt8]
    ) throws(Refusal) -> [UInt8] {
        let count = sealed.count - tagCount
        guard count >= 0, key.count == keyCount, nonce.count == nonceCount else { throw .malformed }
        let cipher = start(key, nonce, encrypting: false, context: context)
        defer { EVP_CIPHER_CTX_free(cipher) }
        var authentic = false
        var plaintext = sealed.withUnsafeBytes { sealed in
            [UInt8](unsafeUninitializedCapacity: count + 1) { output, initialized in
                var written: Int32 = 0
                let tag = UnsafeMutableRawPointer(mutating: sealed.baseAddress! + count)
                authentic =
                    (count == 0 || EVP_CipherUpdate(cipher, output.baseAddress, &written, sealed.bytes, Int32(count)) == 1)
                    && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), tag) == 1
                    && EVP_CipherFinal_ex(cipher, output.baseAddress! + count, &written) == 1
                initialized = count
            }
        }
        guard authentic else {
            // Decrypted bytes that are not authentic must not stay in memory.
            plaintext.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
            ERR_clear_error()
            throw .notAuthentic
        }
        return plaintext
    }

    private static func start(
        _ key: SecretBytes, _ nonce: [UInt8], encrypting: Bool, context: [UInt8]
    ) -> OpaquePointer {
        guard let cipher = EVP_CIPHER_CTX_new() else { cannotContinue("allocate a cipher") }
        let done = key.withUnsafeBytes { key in
            context.withUnsafeBytes { context in
                var written: Int32 = 0
                return EVP_CipherInit_ex2(cipher, FetchedAlgorithm.aes256GCM.pointer, key.bytes, nonce, encrypting ? 1 : 0, nil) == 1
                    && (context.isEmpty || EVP_CipherUpdate(cipher, nil, &written, context.bytes, Int32(context.count)) == 1)
            }
        }
        if !done { cannotContinue("start AES-256-GCM") }
        return cipher
    }
}

extension UnsafeRawBufferPointer {
    /// The address of the first byte in the type that C functions require.
    var bytes: UnsafePointer<UInt8>? { bindMemory(to: UInt8.self).baseAddress }
}

extension UnsafeMutableRawBufferPointer {
    /// Overwrites the bytes in a way that the compiler does not optimize away.
    func wipe() { OPENSSL_cleanse(baseAddress, count) }

    /// The address of the first byte in the type that C functions require.
    var bytes: UnsafeMutablePointer<UInt8>? { bindMemory(to: UInt8.self).baseAddress }
}
