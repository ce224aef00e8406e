import COpenSSL
import Glibc
import Synchronization

/// OpenSSL's library contexts. Every ECDSA signature takes locks of the context that its key belongs to, several times, so threads
/// that sign side by side in one context wait for each other: 4 % of a signature with two of them. Each core therefore has a
/// context of its own, made (a millisecond, 230 kB) when a thread that would use it first signs or verifies.
enum LibraryContext {
    private struct Known: @unchecked Sendable {
        /// nil is the context that OpenSSL itself has made.
        var contexts: [OpaquePointer?] = [nil]
        var threads = 0
    }

    private static let known = Mutex(Known())
    private static let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// A context for one more thread. Never freed: keys may belong to it.
    static func forThread() -> OpaquePointer? {
        known.withLock { known in
            defer { known.threads += 1 }
            let place = known.threads % cores
            if place == known.contexts.count { known.contexts.append(OSSL_LIB_CTX_new()) }
            return known.contexts[place]
        }
    }
}
