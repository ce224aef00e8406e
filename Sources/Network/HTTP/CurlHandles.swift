import CCurl
import Platform
import Synchronization

/// The unused curl handles of a client. Each handle keeps its open connections for the next transfer of the same use.
final class CurlHandles<Use: Hashable & Sendable>: Sendable {
    /// An unused handle. Only one thread uses a handle at a time, because it is removed from the list during use.
    private struct Idle: @unchecked Sendable {
        let use: Use
        let easy: OpaquePointer
    }

    private let library: CurlLibrary
    private let maximumIdle: Int
    private let quitsInBackground: Bool
    private let idle = Mutex<[Idle]>([])

    /// - Parameters:
    ///   - maximumIdle: The number of unused handles above which the oldest one is closed.
    ///   - quitsInBackground: Whether a handle is closed on a separate thread if one is available, because closing can take minutes.
    init(_ library: CurlLibrary, maximumIdle: Int, quitsInBackground: Bool = false) {
        self.library = library
        self.maximumIdle = maximumIdle
        self.quitsInBackground = quitsInBackground
    }

    deinit { idle.withLock { $0 }.forEach(close) }

    /// Calls `body` with a handle without settings.
    ///
    /// - Throws: The result of `missing` if libcurl is out of memory; the error of `body`.
    func withHandle<R, Failure: Error>(
        for use: Use, missing: () -> Failure, _ body: (OpaquePointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        let kept = idle.withLock { idle in idle.lastIndex { $0.use == use }.map { idle.remove(at: $0) } }
        guard let easy = kept?.easy ?? library.table.pointee.easy_init() else { throw missing() }
        defer {
            library.table.pointee.easy_reset(easy)
            let handle = Idle(use: use, easy: easy)
            let surplus = idle.withLock { idle in
                idle.append(handle)
                return idle.count > maximumIdle ? idle.removeFirst() : nil
            }
            if let surplus { close(surplus) }
        }
        return try body(easy)
    }

    private func close(_ handle: Idle) {
        let close: @Sendable () -> Void = { [library] in library.table.pointee.easy_cleanup(handle.easy) }
        if !quitsInBackground || !Thread.start(name: "mail quit", close) { close() }
    }
}
