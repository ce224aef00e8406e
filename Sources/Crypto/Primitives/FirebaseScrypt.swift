import COpenSSL

/// The scrypt variant of Firebase Authentication (github.com/firebase/scrypt): a key derived from the password encrypts the project's
/// signer key, and the ciphertext is the password hash.
public enum FirebaseScrypt {
    /// Returns the hash of a password, which is as long as the signer key.
    ///
    /// - Parameters:
    ///   - salt: The salt of the account followed by the salt separator of the project.
    ///   - memoryCost: The base-2 logarithm of scrypt's N.
    ///   - rounds: scrypt's r.
    /// - Throws: `Scrypt.Refusal`.
    public static func hash(
        password: SecretBytes, salt: [UInt8], signerKey: SecretBytes, memoryCost: Int, rounds: Int
    ) throws(Scrypt.Refusal) -> [UInt8] {
        guard (1...30).contains(memoryCost) else { throw .unacceptableParameters }
        let derived = try Scrypt.derive(password: password, salt: salt, .init(n: 1 << memoryCost, r: rounds, p: 1), count: 64)
        return encrypt(signerKey, key: derived)
    }

    /// Encrypts with AES-256 in counter mode, starting at zero (NIST SP 800-38A section 6.5), with the first 32 bytes of `key`. Each key
    /// must encrypt only one value.
    private static func encrypt(_ plain: SecretBytes, key: SecretBytes) -> [UInt8] {
        guard let cipher = EVP_CIPHER_CTX_new() else { cannotContinue("allocate a cipher") }
        defer { EVP_CIPHER_CTX_free(cipher) }
        return [UInt8](unsafeUninitializedCapacity: plain.count) { output, initialized in
            var written: Int32 = 0
            let counter = [UInt8](repeating: 0, count: 16)
            let done = key.withUnsafeBytes { key in
                plain.withUnsafeBytes { plain in
                    EVP_EncryptInit_ex2(cipher, FetchedAlgorithm.aes256CTR.pointer, key.bytes, counter, nil) == 1
                        && EVP_EncryptUpdate(cipher, output.baseAddress, &written, plain.bytes, Int32(plain.count)) == 1
                }
            }
            if !done { cannotContinue("encrypt with AES-256-CTR") }
            initialized = plain.count
        }
    }
}
