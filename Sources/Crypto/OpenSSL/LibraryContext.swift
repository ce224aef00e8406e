import COpenSSL
import Glibc
import Synchronization

/// OpenSSL's library contexts. Every ECDSA signature acquires several locks of the context to which its key belongs, so threads that sign
/// in the same context delay each other: by 4 % of a signature with two threads. Each core therefore has its own context. It is created (1
/// ms, 230 kB) when the first thread for it signs or verifies.
enum LibraryContext {
    private struct Known: @unchecked Sendable {
        /// `nil` is OpenSSL's default context.
        var contexts: [OpaquePointer?] = [nil]
        var threads = 0
    }

    private static let known = Mutex(Known())
    private static let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// Returns a context for one more thread. Contexts are never freed, because keys can belong to them.
    static func forThread() -> OpaquePointer? {
        known.withLock { known in
            defer { known.threads += 1 }
            let place = known.threads % cores
            if place == known.contexts.count { known.contexts.append(OSSL_LIB_CTX_new()) }
            return known.contexts[place]
        }
    }
}
