import CCurl
import Synchronization

/// libcurl, once loaded.
final class CurlLibrary: @unchecked Sendable {
    // Safe because the table is filled in `init` and only read after.
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

/// The characters before the first zero.
func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The handles of a client: each keeps the connections it opened, for the next request of the same policy.
///
/// A connection opened for a request that may reach private addresses never serves one that may not.
final class CurlHandles: Sendable {
    /// Under what a handle's connections were opened.
    struct Reach: Hashable, Sendable {
        let loopback: Bool
        let privateNetwork: Bool

        init(_ policy: HTTPPolicy) {
            loopback = policy.allowsInsecureLoopback
            privateNetwork = policy.allowsPrivateNetwork
        }
    }

    /// A handle is with one thread at a time: it is taken out while it is used.
    private struct Idle: @unchecked Sendable {
        let reach: Reach
        let easy: OpaquePointer
    }

    private static let maximumIdle = 8
    private let library: CurlLibrary
    private let idle = Mutex<[Idle]>([])

    init(_ library: CurlLibrary) { self.library = library }

    deinit { for handle in idle.withLock({ $0 }) { library.table.pointee.easy_cleanup(handle.easy) } }

    /// Runs `body` with a handle without settings.
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
