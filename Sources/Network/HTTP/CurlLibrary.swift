import CCurl
import Synchronization

/// The loaded libcurl.
final class CurlLibrary: @unchecked Sendable {
    // Safe because the table is filled in `init` and only read afterwards.
    let table: UnsafePointer<ccurl>

    /// - Throws: `libraryMissing`.
    init(_ name: String) throws(HTTPFailure) {
        let table = UnsafeMutablePointer<ccurl>.allocate(capacity: 1)
        table.initialize(to: ccurl())
        var reason = [CChar](repeating: 0, count: 512)
        guard ccurl_open(table, name, &reason, reason.count) else {
            table.deallocate()
            throw HTTPFailure(.libraryMissing(text(reason)), at: "")
        }
        self.table = UnsafePointer(table)
    }

    deinit { table.deallocate() }
}

/// Returns the characters before the first zero byte.
func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The curl handles of a client. Each handle keeps its open connections for the next request with the same policy.
///
/// A connection that was opened for a request with access to private addresses is never used for a request without it.
final class CurlHandles: Sendable {
    /// The address restrictions under which the connections of a handle were opened.
    struct Reach: Hashable, Sendable {
        let loopback: Bool
        let privateNetwork: Bool

        init(_ policy: HTTPPolicy) {
            loopback = policy.allowsInsecureLoopback
            privateNetwork = policy.allowsPrivateNetwork
        }
    }

    /// An unused handle. Only one thread uses a handle at a time, because it is removed from the list during use.
    private struct Idle: @unchecked Sendable {
        let reach: Reach
        let easy: OpaquePointer
    }

    private static let maximumIdle = 8
    private let library: CurlLibrary
    private let idle = Mutex<[Idle]>([])

    init(_ library: CurlLibrary) { self.library = library }

    deinit { for handle in idle.withLock({ $0 }) { library.table.pointee.easy_cleanup(handle.easy) } }

    /// Calls `body` with a handle without settings.
    func withHandle<R>(_ policy: HTTPPolicy, _ body: (OpaquePointer) throws(HTTPFailure) -> R) throws(HTTPFailure) -> R {
        let reach = Reach(policy)
        let kept = idle.withLock { idle in idle.lastIndex { $0.reach == reach }.map { idle.remove(at: $0) } }
        guard let easy = kept?.easy ?? library.table.pointee.easy_init() else {
            throw HTTPFailure(.libraryMissing("it is out of memory"), at: "")
        }
        defer {
            library.table.pointee.easy_reset(easy)
            let handle = Idle(reach: reach, easy: easy)
            let surplus = idle.withLock { idle in
                idle.append(handle)
                return idle.count > Self.maximumIdle ? idle.removeFirst() : nil
            }
            if let surplus { library.table.pointee.easy_cleanup(surplus.easy) }
        }
        return try body(easy)
    }
}
