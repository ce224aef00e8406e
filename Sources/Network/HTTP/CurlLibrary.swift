import CCurl

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

/// The address restrictions under which the connections of a handle were opened. A connection that was opened for a request with access
/// to private addresses is never used for a request without it.
struct ConnectionReach: Hashable, Sendable {
    let loopback: Bool
    let privateNetwork: Bool

    init(_ policy: HTTPPolicy) {
        loopback = policy.addresses.allowsInsecureLoopback
        privateNetwork = policy.addresses.allowsPrivateNetwork
    }
}
