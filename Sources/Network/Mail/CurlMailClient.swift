import Platform
import Synchronization

/// Mail submission by libcurl, which is loaded with the first message. Connections are kept for the next message.
///
/// Certificates are always checked, nothing is said before TLS stands, and a password never travels without it. Environment
/// variables, `.netrc` and proxies are not used.
public final class CurlMailClient: MailClient {
    private let caFile: String?
    private let libraryName: String
    private let loaded = Mutex<(library: CurlLibrary, handles: MailHandles)?>(nil)

    /// - Parameter caFile: PEM certificates that are trusted beside the system's own: `--ca-file`.
    public convenience init(caFile: String? = nil) { self.init(caFile: caFile, library: "libcurl.so.4") }

    init(caFile: String?, library: String) {
        self.caFile = caFile
        libraryName = library
    }

    /// Hands over a message; see `MailClient.send`. May be called on many threads at once.
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

    /// Loads libcurl unless it is. A failure is not remembered: the library may be installed meanwhile.
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

/// The handles of a client: each keeps its connection for the next message through the same server.
///
/// libcurl compares user and password before it uses a connection again; how it is encrypted is compared here.
final class MailHandles: Sendable {
    private struct Use: Hashable {
        let origin: String
        let encryption: SMTPServer.Encryption
    }

    /// A handle is with one thread at a time: it is taken out while it is used.
    private struct Idle: @unchecked Sendable {
        let use: Use
        let easy: OpaquePointer
    }

    private static let maximumIdle = 4
    private let library: CurlLibrary
    private let idle = Mutex<[Idle]>([])

    init(_ library: CurlLibrary) { self.library = library }

    deinit { idle.withLock { $0 }.forEach { Self.close($0, library) } }

    /// Runs `body` with a handle without settings.
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

    /// Says QUIT and closes, on a thread of its own if there is one: a server that does not answer QUIT is waited for up to two minutes.
    private static func close(_ handle: Idle, _ library: CurlLibrary) {
        let quit: @Sendable () -> Void = { library.table.pointee.easy_cleanup(handle.easy) }
        if !Thread.start(name: "mail quit", quit) { quit() }
    }
}
