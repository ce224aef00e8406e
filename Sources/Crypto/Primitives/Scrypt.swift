import COpenSSL

/// scrypt (RFC 7914), a memory-hard password hash.
public enum Scrypt {
    /// The reason a derivation was rejected.
    public enum Refusal: Error, Hashable, Sendable {
        /// `n` is not a power of two above 1, or `r`, `p` or the count are outside the range of RFC 7914, or more than 256 MiB are
        /// required.
        case unacceptableParameters
    }

    /// The maximum memory of a derivation, in bytes.
    public static let maximumMemory = 256 << 20

    /// The cost of a derivation: `128 * n * r` bytes of memory, and about 400 ms for n = 2^17, r = 8, p = 1.
    public struct Cost: Hashable, Sendable {
        let n: Int
        let r: Int
        let p: Int

        public init(n: Int, r: Int, p: Int) {
            self.n = n
            self.r = r
            self.p = p
        }
    }

    /// Derives `count` bytes from a password.
    ///
    /// - Throws: `Refusal`, for example if stored parameters are damaged.
    public static func derive(password: SecretBytes, salt: [UInt8], _ cost: Cost, count: Int) throws(Refusal) -> SecretBytes {
        let (n, r, p) = (cost.n, cost.r, cost.p)
        guard n > 1, n & (n - 1) == 0, (1...1 << 16).contains(r), (1...1 << 16).contains(p), (1...1 << 16).contains(count)
        else { throw .unacceptableParameters }
        return try SecretBytes(count: count) { output throws(Refusal) in
            let done = password.withUnsafeBytes { password in
                EVP_PBE_scrypt(
                    password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count, salt, salt.count,
                    UInt64(n), UInt64(r), UInt64(p), UInt64(maximumMemory),
                    output.bindMemory(to: UInt8.self).baseAddress, count)
            }
            guard done == 1 else {
                ERR_clear_error()
                throw .unacceptableParameters
            }
        }
    }

    /// Derives `count` bytes from a password in a plain array; see `derive(password:salt:_:count:)`.
    public static func derive(password: [UInt8], salt: [UInt8], _ cost: Cost, count: Int) throws(Refusal) -> SecretBytes {
        try derive(password: SecretBytes(password), salt: salt, cost, count: count)
    }
}
