import COpenSSL

/// HMAC (RFC 2104, FIPS 198-1) with SHA-256 (32 bytes), and with SHA-1 (20 bytes) for one-time passwords.
public enum HMAC {
    /// Authenticates `message` with a secret key.
    public static func sha256(key: SecretBytes, _ message: [UInt8]) -> [UInt8] {
        key.withUnsafeBytes { key in message.withUnsafeBytes { authenticate($0, key: key) } }
    }

    /// Authenticates `message` with a key in a plain array, such as one step of a key derivation.
    public static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        key.withUnsafeBytes { key in message.withUnsafeBytes { authenticate($0, key: key) } }
    }

    /// Authenticates `message` with SHA-1, as authenticator apps do (RFC 4226, RFC 6238).
    public static func sha1(key: SecretBytes, _ message: [UInt8]) -> [UInt8] {
        let context = HMACContext(digest: "SHA1")
        return key.withUnsafeBytes { key in message.withUnsafeBytes { authenticate($0, key: key, context, count: 20) } }
    }

    /// Authenticates `message` with SHA-512 (64 bytes), for password hashes of other systems.
    public static func sha512(key: SecretBytes, _ message: [UInt8]) -> [UInt8] {
        let context = HMACContext(digest: "SHA2-512")
        return key.withUnsafeBytes { key in message.withUnsafeBytes { authenticate($0, key: key, context, count: 64) } }
    }

    /// Authenticates `message` with MD5 (16 bytes). Not secure; only for password hashes of other systems.
    public static func md5(key: SecretBytes, _ message: [UInt8]) -> [UInt8] {
        let context = HMACContext(digest: "MD5")
        return key.withUnsafeBytes { key in message.withUnsafeBytes { authenticate($0, key: key, context, count: 16) } }
    }

    /// Writes the 32 bytes of HMAC-SHA-256 to a buffer.
    static func sha256(key: UnsafeRawBufferPointer, _ message: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        compute(message, key: key, ThreadContexts.current.authentication, into: output)
    }

    private static func authenticate(_ message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> [UInt8] {
        authenticate(message, key: key, ThreadContexts.current.authentication, count: 32)
    }

    private static func authenticate(
        _ message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ room: HMACContext, count: Int
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            compute(message, key: key, room, into: UnsafeMutableRawBufferPointer(start: output.baseAddress, count: count))
            initialized = count
        }
    }

    private static func compute(
        _ message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ room: HMACContext, into output: UnsafeMutableRawBufferPointer
    ) {
        let context = room.pointer
        // With a null pointer, OpenSSL would reuse the previous key, even if the new key is empty.
        var nothing: UInt8 = 0
        let started = withUnsafePointer(to: &nothing) { nothing in
            EVP_MAC_init(context, key.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? nothing, key.count, nil)
        }
        let message = message.bindMemory(to: UInt8.self)
        guard started == 1, EVP_MAC_update(context, message.baseAddress, message.count) == 1 else { cannotContinue("compute an HMAC") }
        var written = 0
        let start = output.bindMemory(to: UInt8.self).baseAddress
        guard EVP_MAC_final(context, start, &written, output.count) == 1, written == output.count else { cannotContinue("compute an HMAC") }
    }
}

/// A reusable context for one HMAC at a time, with a fixed digest and a new key for each use.
final class HMACContext {
    let pointer: OpaquePointer

    init(digest: StaticString = "SHA2-256") {
        guard let context = EVP_MAC_CTX_new(FetchedAlgorithm.hmac.pointer) else { cannotContinue("allocate an HMAC") }
        pointer = context
        var parameters = ParameterList()
        parameters.text("digest", digest)
        guard parameters.withParameters({ EVP_MAC_CTX_set_params(context, $0) }) == 1 else { cannotContinue("set up an HMAC") }
    }

    deinit { EVP_MAC_CTX_free(pointer) }
}
