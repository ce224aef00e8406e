import COpenSSL

/// PBKDF2 with HMAC (RFC 8018 section 5.2), for imported password hashes. New passwords are hashed with scrypt.
public enum PBKDF2 {
    /// The digest of the HMAC.
    public enum Digest: Hashable, Sendable {
        case sha1, sha256, sha512

        fileprivate var algorithm: FetchedAlgorithm {
            switch self {
            case .sha1: .sha1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        }
    }

    /// The reason a derivation was rejected.
    public enum Refusal: Error, Hashable, Sendable {
        /// The number of iterations or bytes is less than 1, or the number of bytes exceeds 65,536.
        case unacceptableParameters
    }

    /// Derives `count` bytes from a password.
    ///
    /// - Throws: `Refusal`, for example if stored parameters are damaged.
    public static func derive(
        _ digest: Digest, password: SecretBytes, salt: [UInt8], iterations: Int, count: Int
    ) throws(Refusal) -> SecretBytes {
        guard (1...Int(Int32.max)).contains(iterations), (1...1 << 16).contains(count) else { throw .unacceptableParameters }
        return SecretBytes(count: count) { output in
            let done = password.withUnsafeBytes { password in
                // An empty password has a null address, which OpenSSL accepts with length 0.
                PKCS5_PBKDF2_HMAC(
                    password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count), salt, Int32(salt.count),
                    Int32(iterations), digest.algorithm.pointer, Int32(count), output.bindMemory(to: UInt8.self).baseAddress)
            }
            if done != 1 { cannotContinue("derive a key by PBKDF2") }
        }
    }
}
