import Platform
import Synchronization

/// Submits email messages with libcurl, which is loaded with the first message. Connections are kept for the next message.
///
/// Certificates are always verified. No command that carries data is sent before TLS is established, and a password is never sent without
/// TLS. Environment variables, `.netrc` and proxies are not used.
public final class CurlMailClient: MailClient {
    private let caFile: String?
    private let libraryName: String
    private let loaded = Mutex<(library: CurlLibrary, handles: MailHandles)?>(nil)

    /// - Parameter caFile: PEM certificates to trust in addition to those of the system: `--ca-file`.
    public convenience init(caFile: String? = nil) { self.init(caFile: caFile, library: "libcurl.so.4") }

    init(caFile: String?, library: String) {
        self.caFile = caFile
        libraryName = library
    }

    /// Submits a message; see `MailClient.send`. Can be called on several threads at the same time.
    public func send(_ submission: MailSubmission) throws(MailFailure) {
        let (library, handles) = try load(for: submission.server)
        let bytes = submission.message.encoded()
        let deadline = Monotonic.nanoseconds() + UInt64(max(1, submission.timeoutMilliseconds)) * 1_000_000
        try handles.withHandle(submission.server) { easy throws(MailFailure) in
            for attempt in 0... {
                let exchange = MailExchange(submission, bytes, caFile: caFile, library, until: deadline)
                do throws(MailFailure) {
                    return try exchange.perform(easy, afresh: attempt > 0)
                } catch {
                    guard attempt == 0, exchange.metEndedConnection(error) else { throw error }
                }
            }
        }
    }

    /// Loads libcurl if it is not loaded yet. A failure is not cached, because the library can be installed later.
    private func load(for server: SMTPServer) throws(MailFailure) -> (CurlLibrary, MailHandles) {
        try loaded.withLock { loaded throws(MailFailure) in
            if let loaded { return loaded }
            let library: CurlLibrary
            do throws(HTTPFailure) { library = try CurlLibrary(libraryName) } catch {
                guard case .libraryMissing(let why) = error.reason else {
                    throw MailFailure(.libraryMissing("\(error)"), at: server.origin)
                }
                throw MailFailure(.libraryMissing(why), at: server.origin)
            }
            let made = (library, MailHandles(library))
            loaded = made
            return made
        }
    }
}

/// The curl handles of a client. Each handle keeps its connection for the next message through the same server.
///
/// libcurl compares the user name and password before it reuses a connection. The kind of encryption is compared here.
final class MailHandles: Sendable {
    private struct Use: Hashable {
        let origin: String
        let encryption: SMTPServer.Encryption
    }

    /// An unused handle. Only one thread uses a handle at a time, because it is removed from the list during use.
    private struct Idle: @unchecked Sendable {
        let use: Use
        let easy: OpaquePointer
    }

    private static let maximumIdle = 4
    private let library: CurlLibrary
    private let idle = Mutex<[Idle]>([])

    init(_ library: CurlLibrary) { self.library = library }

    deinit { idle.withLock { $0 }.forEach { Self.close($0, library) } }

    /// Calls `body` with a handle without settings.
    func withHandle(_ server: SMTPServer, _ body: (OpaquePointer) throws(MailFailure) -> Void) throws(MailFailure) {
        let use = Use(origin: server.origin, encryption: server.encryption)
        let kept = idle.withLock { idle in idle.lastIndex { $0.use == use }.map { idle.remove(at: $0) } }
        guard let easy = kept?.easy ?? library.table.pointee.easy_init() else {
            throw MailFailure(.libraryMissing("it is out of memory"), at: server.origin)
        }
        defer {
            library.table.pointee.easy_reset(easy)
            let handle = Idle(use: use, easy: easy)
            let surplus = idle.withLock { idle in
                idle.append(handle)
                return idle.count > Self.maximumIdle ? idle.removeFirst() : nil
            }
            if let surplus { Self.close(surplus, library) }
        }
        try body(easy)
    }

    /// Sends QUIT and closes the connection, on a separate thread if one is available: libcurl waits up to two minutes for the reply to
    /// QUIT.
    private static func close(_ handle: Idle, _ library: CurlLibrary) {
        let quit: @Sendable () -> Void = { library.table.pointee.easy_cleanup(handle.easy) }
        if !Thread.start(name: "mail quit", quit) { quit() }
    }
}
