import COpenSSL

/// PBKDF2 with HMAC (RFC 8018 section 5.2): how others keep passwords. New ones are kept as scrypt.
public enum PBKDF2 {
    /// What the HMAC is computed with.
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

    /// Why a derivation was refused.
    public enum Refusal: Error, Hashable, Sendable {
        /// No iteration, no byte to derive, or more than 65,536 of these.
        case unacceptableParameters
    }

    /// Derives `count` bytes from a password.
    ///
    /// - Throws: `Refusal`, for instance when stored parameters were damaged.
    public static func derive(
        _ digest: Digest, password: SecretBytes, salt: [UInt8], iterations: Int, count: Int
    ) throws(Refusal) -> SecretBytes {
        guard (1...Int(Int32.max)).contains(iterations), (1...1 << 16).contains(count) else { throw .unacceptableParameters }
        return SecretBytes(count: count) { output in
            let done = password.withUnsafeBytes { password in
                // An empty password has no address, and OpenSSL takes none for one of no length.
                PKCS5_PBKDF2_HMAC(
                    password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count), salt, Int32(salt.count),
                    Int32(iterations), digest.algorithm.pointer, Int32(count), output.bindMemory(to: UInt8.self).baseAddress)
            }
            if done != 1 { cannotContinue("derive a key by PBKDF2") }
        }
    }
}
