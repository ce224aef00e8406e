import COpenSSL

/// The initialization of libcrypto.
public enum OpenSSLRuntime {
    /// Initializes libcrypto without reading `openssl.cnf` and without an exit handler. Reading the file would take half a millisecond at
    /// each start and could change the algorithms in use. An exit handler is unsafe because threads may still be signing at exit.
    ///
    /// Call it once, before any other function of this module. Later calls have no effect.
    public static func start() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}

/// OpenSSL failed in an operation that normally cannot fail: it is out of memory, or the library lacks an algorithm.
public struct CryptoFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failed operation.
    public let operation: String
    /// The first entry of OpenSSL's error queue, as accepted by `openssl errstr`; 0 if there is none.
    public let code: UInt

    /// Takes the cause from the error queue of this thread and clears the queue.
    init(_ operation: String) {
        self.operation = operation
        code = ERR_get_error()
        ERR_clear_error()
    }

    public var description: String {
        "OpenSSL could not \(operation) (error \(String(code, radix: 16, uppercase: true)))"
    }
}

/// Terminates the process: a cryptographic operation with checked input failed, so no result can be trusted.
func cannotContinue(_ operation: String) -> Never {
    fatalError(CryptoFailure(operation).description)
}
