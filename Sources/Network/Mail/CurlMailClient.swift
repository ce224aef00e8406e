import Platform
import Synchronization

/// Submits email messages with libcurl, which is loaded with the first message. Connections are kept for the next message.
///
/// Certificates are always verified. No command that carries data is sent before TLS is established, and a password is never sent without
/// TLS. Environment variables, `.netrc` and proxies are not used.
public final class CurlMailClient: MailClient {
    private let caFile: String?
    private let libraryName: String
    private let loaded = Mutex<(library: CurlLibrary, handles: CurlHandles<MailUse>)?>(nil)

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
        let server = submission.server
        try handles.withHandle(
            for: MailUse(origin: server.origin, encryption: server.encryption),
            missing: { MailFailure(.libraryMissing("it is out of memory"), at: server.origin) }
        ) { easy throws(MailFailure) in
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
    private func load(for server: SMTPServer) throws(MailFailure) -> (CurlLibrary, CurlHandles<MailUse>) {
        try loaded.withLock { loaded throws(MailFailure) in
            if let loaded { return loaded }
            let library: CurlLibrary
            do throws(HTTPFailure) { library = try CurlLibrary(libraryName) } catch {
                guard case .libraryMissing(let why) = error.reason else {
                    throw MailFailure(.libraryMissing("\(error)"), at: server.origin)
                }
                throw MailFailure(.libraryMissing(why), at: server.origin)
            }
            // libcurl waits up to two minutes for the reply to QUIT.
            let made = (library, CurlHandles<MailUse>(library, maximumIdle: 4, quitsInBackground: true))
            loaded = made
            return made
        }
    }
}

/// The server and encryption for which a connection was opened. libcurl compares the user name and password before it reuses a connection.
/// The kind of encryption is compared here.
struct MailUse: Hashable, Sendable {
    let origin: String
    let encryption: SMTPServer.Encryption
}
