import COpenSSL
import Glibc

/// What one thread keeps ready between operations, so that signing and verifying allocate nothing.
///
/// A context holds a reference to its key. A key that was let go therefore stays in memory until newer keys push its
/// context out or the thread ends.
final class ThreadContexts {
    let digest: OpaquePointer
    /// For HMAC-SHA-256. Keeps the last key's inner state until the next use.
    private(set) lazy var authentication = HMACContext()
    /// Where this thread signs and verifies.
    private(set) lazy var library = LibraryContext.forThread()
    /// Where a digest lies while it is signed or verified.
    let digestSpace = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
    /// Where an ECDSA signature lies in OpenSSL's form.
    let signatureSpace = UnsafeMutableRawBufferPointer.allocate(byteCount: ECDSASignature.maximumCount, alignment: 16)
    /// Where the longest signature, of an RSA key of 8,192 bits, lies before it is encoded.
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

    /// Space for a signature of `count` bytes.
    func outputSpace(_ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: outputSpace[..<count])
    }

    private static let slot: pthread_key_t = {
        var slot = pthread_key_t()
        let status = pthread_key_create(&slot) { Unmanaged<ThreadContexts>.fromOpaque($0!).release() }
        precondition(status == 0, "no thread-specific storage is left")
        return slot
    }()

    /// The calling thread's contexts.
    static var current: ThreadContexts {
        if let kept = pthread_getspecific(slot) { return Unmanaged.fromOpaque(kept).takeUnretainedValue() }
        let contexts = ThreadContexts()
        pthread_setspecific(slot, Unmanaged.passRetained(contexts).toOpaque())
        return contexts
    }
}

/// A few contexts, the ones in use towards the front.
struct ContextCache {
    private static let limit = 16
    private var entries: [(serial: UInt64, context: OpaquePointer)] = []

    /// The context for the key with this serial number, made by `make` when there is none yet.
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

    /// Forgets a context that failed, so that the next use starts afresh.
    mutating func remove(_ serial: UInt64) {
        guard let index = entries.firstIndex(where: { $0.serial == serial }) else { return }
        EVP_PKEY_CTX_free(entries.remove(at: index).context)
    }

    mutating func removeAll() {
        for entry in entries { EVP_PKEY_CTX_free(entry.context) }
        entries = []
    }
}
