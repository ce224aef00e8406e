import COpenSSL

/// How this process uses libcrypto.
public enum OpenSSLRuntime {
    /// Starts libcrypto without reading `openssl.cnf` (half a millisecond of every start, and a file that could
    /// change which algorithms run) and without an exit handler (threads may still be signing at exit).
    ///
    /// Call it once, before anything else in this module; a later call changes nothing.
    public static func start() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}

/// OpenSSL refused something that has no reason to fail: memory ran out, or the library lacks an algorithm.
public struct CryptoFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was being done.
    public let operation: String
    /// The first entry of OpenSSL's error queue, as `openssl errstr` reads it; 0 when there was none.
    public let code: UInt

    /// Takes the cause from this thread's error queue and leaves the queue empty.
    init(_ operation: String) {
        self.operation = operation
        code = ERR_get_error()
        ERR_clear_error()
    }

    public var description: String {
        "OpenSSL could not \(operation) (error \(String(code, radix: 16, uppercase: true)))"
    }
}

/// Ends the process: a cryptographic operation on checked input failed, so nothing it would answer can be trusted.
func cannotContinue(_ operation: String) -> Never {
    fatalError(CryptoFailure(operation).description)
}
