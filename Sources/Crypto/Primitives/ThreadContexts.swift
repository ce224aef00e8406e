import COpenSSL
import Glibc

/// The reusable contexts and buffers of one thread, so that signing and verifying allocate no memory.
///
/// A context holds a reference to its key. A released key therefore stays in memory until newer keys evict its context or the thread ends.
final class ThreadContexts {
    let digest: OpaquePointer
    /// The context for HMAC-SHA-256. Keeps the inner state of the last key until the next use.
    private(set) lazy var authentication = HMACContext()
    /// The library context in which this thread signs and verifies.
    private(set) lazy var library = LibraryContext.forThread()
    /// The buffer for a digest to sign or verify.
    let digestSpace = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
    /// The buffer for an ECDSA signature in DER form.
    let signatureSpace = UnsafeMutableRawBufferPointer.allocate(byteCount: ECDSASignature.maximumCount, alignment: 16)
    /// The buffer for a signature before it is encoded; the longest one is that of an 8,192-bit RSA key.
    private let outputSpace = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
    var signing = ContextCache()
    var verifying = ContextCache()

    private init() {
        guard let digest = EVP_MD_CTX_new() else { cannotContinue("allocate a digest") }
        self.digest = digest
    }

    deinit {
        EVP_MD_CTX_free(digest)
        digestSpace.deallocate()
        signatureSpace.deallocate()
        outputSpace.deallocate()
        signing.removeAll()
        verifying.removeAll()
    }

    /// Returns space for a signature of `count` bytes.
    func outputSpace(_ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: outputSpace[..<count])
    }

    private static let slot: pthread_key_t = {
        var slot = pthread_key_t()
        let status = pthread_key_create(&slot) { Unmanaged<ThreadContexts>.fromOpaque($0!).release() }
        precondition(status == 0, "no thread-specific storage is left")
        return slot
    }()

    /// The contexts of the calling thread.
    static var current: ThreadContexts {
        if let kept = pthread_getspecific(slot) { return Unmanaged.fromOpaque(kept).takeUnretainedValue() }
        let contexts = ThreadContexts()
        pthread_setspecific(slot, Unmanaged.passRetained(contexts).toOpaque())
        return contexts
    }
}

/// A small cache of contexts. Frequently used contexts move to the front.
struct ContextCache {
    private static let limit = 16
    private var entries: [(serial: UInt64, context: OpaquePointer)] = []

    /// Returns the context for the key with this serial number. Calls `make` if the cache does not contain it.
    mutating func context<E: Error>(for serial: UInt64, make: () throws(E) -> OpaquePointer) throws(E) -> OpaquePointer {
        for index in entries.indices where entries[index].serial == serial {
            let context = entries[index].context
            if index > 0 { entries.swapAt(index, index - 1) }
            return context
        }
        let context = try make()
        if entries.count == Self.limit { EVP_PKEY_CTX_free(entries.removeLast().context) }
        entries.append((serial, context))
        return context
    }

    /// Removes a context that failed, so that the next use creates a new one.
    mutating func remove(_ serial: UInt64) {
        guard let index = entries.firstIndex(where: { $0.serial == serial }) else { return }
        EVP_PKEY_CTX_free(entries.remove(at: index).context)
    }

    mutating func removeAll() {
        for entry in entries { EVP_PKEY_CTX_free(entry.context) }
        entries = []
    }
}
