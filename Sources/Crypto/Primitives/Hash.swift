import COpenSSL

/// SHA-2, and SHA-1 for external interfaces that require it (FIPS 180-4).
public enum Hash {
    /// SHA-256: 32 bytes.
    public static func sha256(_ message: some Collection<UInt8>) -> [UInt8] { digest(.sha256, 32, message) }

    /// SHA-384: 48 bytes.
    public static func sha384(_ message: some Collection<UInt8>) -> [UInt8] { digest(.sha384, 48, message) }

    /// SHA-512: 64 bytes.
    public static func sha512(_ message: some Collection<UInt8>) -> [UInt8] { digest(.sha512, 64, message) }

    /// SHA-1: 20 bytes. Not secure; only for services that identify leaked passwords by their SHA-1 digests.
    public static func sha1(_ message: some Collection<UInt8>) -> [UInt8] { digest(.sha1, 20, message) }

    /// MD5: 16 bytes (RFC 1321). Not secure; only for password hashes of other systems.
    public static func md5(_ message: some Collection<UInt8>) -> [UInt8] { digest(.md5, 16, message) }

    private static func digest(_ algorithm: FetchedAlgorithm, _ count: Int, _ message: some Collection<UInt8>) -> [UInt8] {
        message.withBytes { message in
            [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
                write(algorithm, of: message, to: UnsafeMutableRawBufferPointer(output))
                initialized = count
            }
        }
    }

    /// Writes the digest of the message that consists of `parts` to the beginning of `output`.
    static func write(_ algorithm: FetchedAlgorithm, of parts: [UnsafeRawBufferPointer], to output: UnsafeMutableRawBufferPointer) {
        let context = ThreadContexts.current.digest
        let done =
            EVP_DigestInit_ex2(context, algorithm.pointer, nil) == 1
            && parts.allSatisfy { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
            && EVP_DigestFinal_ex(context, output.bindMemory(to: UInt8.self).baseAddress, nil) == 1
        if !done { cannotContinue("compute a digest") }
    }

    /// Writes the digest of `message` to the beginning of `output`.
    static func write(_ algorithm: FetchedAlgorithm, of message: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) {
        let context = ThreadContexts.current.digest
        let done =
            EVP_DigestInit_ex2(context, algorithm.pointer, nil) == 1
            && EVP_DigestUpdate(context, message.baseAddress, message.count) == 1
            && EVP_DigestFinal_ex(context, output.bindMemory(to: UInt8.self).baseAddress, nil) == 1
        if !done { cannotContinue("compute a digest") }
    }
}

extension Collection<UInt8> {
    /// Calls `body` with the bytes in contiguous memory, which are copied only if necessary.
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        if let result = withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
        return Array(self).withUnsafeBytes(body)
    }
}
