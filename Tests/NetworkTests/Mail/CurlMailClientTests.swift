import Crypto
import JSON
import Platform
import Testing

@testable import Network

/// The mail client with real servers: aiosmtpd and servers that misbehave.
@Suite struct CurlMailClientTests {
    let server: MailTestServer
    let client: CurlMailClient

    init() throws {
        server = try MailTestServer.shared.get()
        client = CurlMailClient(caFile: server.caFile)
    }

    static func login(_ password: String = "pässword", _ mechanisms: Set<SMTPServer.Login.Mechanism> = [.plain, .login]) -> SMTPServer.Login
    {
        .init(user: "sender", password: SecretBytes(Array(password.replacing("ssw", with: "ss w").utf8)), mechanisms: mechanisms)
    }

    func at(_ name: String, _ encryption: SMTPServer.Encryption = .startTLS, _ login: SMTPServer.Login? = nil) throws -> SMTPServer {
        try SMTPServer(host: "127.0.0.1", port: server.ports[name]!, encryption: encryption, login: login)
    }

    static func message(to: String, subject: String = "Hello", from: String = "shop@sender.example") throws -> MailMessage {
        let sender = Mailbox(name: "Shop", address: try MailAddress(from))
        return MailMessage(
            from: sender, to: Mailbox(address: try MailAddress(to)), subject: subject,
            text: ".\n..\nYour code is 12345678.\n", html: "<p>12345678</p>", sentAt: 1_700_000_000,
            messageId: MailMessage.newId(from: sender, random: SystemRandom()))
    }

    /// The reason for which a message is rejected, or `nil` if it is sent.
    func failure(
        _ server: SMTPServer, to: String = "ann@example.org", subject: String = "Hello", from: String = "shop@sender.example",
        milliseconds: Int = 5000, of client: CurlMailClient? = nil
    ) throws -> MailFailure? {
        let message = try Self.message(to: to, subject: subject, from: from)
        do throws(MailFailure) {
            try (client ?? self.client).send(MailSubmission(message, through: server, timeoutMilliseconds: milliseconds))
            return nil
        } catch {
            #expect(!error.description.contains("@") && !error.description.contains("ss w"), "\(error)")
            return error
        }
    }

    @Test(
        "a message is delivered with STARTTLS and TLS, with each login mechanism and without login",
        arguments: [
            ("startTLS", .startTLS, nil), ("startTLS", .startTLS, login()), ("login", .startTLS, login()),
            ("login", .startTLS, login("pässword", [.login])),
            ("login", .startTLS, login("pässword", [.plain])), ("onlyLOGIN", .startTLS, login()), ("implicit", .implicit, nil),
            ("implicit", .implicit, login()), ("plain", .noneToLoopback, nil),
        ] as [(String, SMTPServer.Encryption, SMTPServer.Login?)])
    func arrives(name: String, encryption: SMTPServer.Encryption, login: SMTPServer.Login?) throws {
        let address = "\(SystemRandom().uuid())@example.org"
        #expect(try failure(at(name, encryption, login), to: address, subject: "Grüße") == nil)
        let came = try server.take(address)
        #expect(came.count == 1)
        let message = try #require(came.first)
        #expect(message["subject"] == "Grüße")
        #expect(message["text"] == ".\n..\nYour code is 12345678.\n")
        #expect(message["html"] == "<p>12345678</p>")
        let session = message["session"]
        #expect(session?["isEncrypted"]?.bool == (encryption != .noneToLoopback))
        #expect(session?["user"]?.string == (login == nil ? "" : "sender"))
        #expect(session?["from"] == "shop@sender.example")
        #expect(session?["ehlo"] == "sender.example")
    }

    @Test("envelope sender and greeting name can be configured")
    func envelope() throws {
        let address = "\(SystemRandom().uuid())@example.org"
        let server = try SMTPServer(
            host: "localhost", port: self.server.ports["startTLS"]!, encryption: .startTLS, greetingName: "host.sender.example")
        try client.send(
            MailSubmission(try Self.message(to: address), through: server, envelopeSender: try MailAddress("bounces@sender.example")))
        let session = try self.server.take(address).first?["session"]
        #expect(session?["from"] == "bounces@sender.example")
        #expect(session?["ehlo"] == "host.sender.example")
    }

    @Test("a connection is reused, and one that the server closed is replaced")
    func reuse() throws {
        let address = "\(SystemRandom().uuid())@example.org"
        for _ in 0..<2 { #expect(try failure(at("startTLS"), to: address) == nil) }
        let clients = try server.take(address).map { $0["session"]?["client"] }
        #expect(clients.count == 2 && clients[0] == clients[1])

        for name in ["forgetful", "tired"] {
            for _ in 0..<3 { #expect(try failure(at(name, .noneToLoopback)) == nil) }
            #expect(try server.take(name).count == 3)
        }
    }

    @Test("certificates for another name and of an unknown authority are rejected before anything is sent")
    func certificates() throws {
        func why(_ name: String, of client: CurlMailClient? = nil) throws -> String {
            guard case .certificate(let why)? = try failure(at(name, .startTLS, Self.login()), of: client)?.reason else { return "" }
            return why
        }
        #expect(try why("otherName").contains("127.0.0.1"))
        #expect(try why("unknown").contains("issuer"))
        #expect(try why("startTLS", of: CurlMailClient()).contains("issuer"))
        #expect(try failure(at("startTLS"), of: CurlMailClient(caFile: "/nowhere.pem"))?.reason == .unreadableCertificateFile)
    }

    @Test("a server that does not support the configured encryption is rejected before anything is sent")
    func encryption() throws {
        let missing = try failure(at("plain", .startTLS, Self.login()))
        #expect(missing?.reason == .encryptionNotOffered)
        #expect(missing?.isRetryable == false)
        guard case .encryption? = try failure(at("plain", .implicit))?.reason else { return #expect(Bool(false), "TLS to a plain server") }
        // Without TLS, a server that requires STARTTLS replies 530, as does a server that requires a login.
        let clear = try failure(at("startTLS", .noneToLoopback))
        guard case .encryptionRequired(let reply)? = clear?.reason else { return #expect(Bool(false), "sent in the clear") }
        #expect(reply.code == 530)
        #expect(clear?.isRetryable == false)
        #expect("\(clear!)".hasSuffix("Use STARTTLS: omit --smtp-unencrypted, or set encryption to startTLS."))
    }

    @Test("a wrong password and a missing login are permanent failures")
    func logins() throws {
        let wrong = try failure(at("login", .startTLS, Self.login("wrong")))
        #expect(wrong?.reason == .loginRefused(code: 535))
        #expect(wrong?.isRetryable == false)
        #expect(try failure(at("onlyLOGIN", .startTLS, Self.login("pässword", [.plain])))?.reason == .loginRefused(code: nil))
        guard case .loginRequired(let reply)? = try failure(at("login"))?.reason else { return #expect(Bool(false), "sent without login") }
        #expect(reply.code == 530)
    }

    @Test("rejections of recipient, sender and message are distinct, and temporary ones are distinct from permanent ones")
    func refusals() throws {
        let nobody = try failure(at("startTLS"), to: "nobody@example.org")
        #expect(nobody?.reason == .recipientRefused(SMTPReply(code: 550, enhancedStatus: "5.1.1", text: "(address) no such mailbox")))
        #expect(nobody?.isRetryable == false && nobody?.isRecipientAtFault == true)
        let later = try failure(at("startTLS"), to: "later@example.org")
        #expect(
            later?.reason == .recipientRefused(SMTPReply(code: 451, enhancedStatus: "4.7.1", text: "Greylisted, come back in 5 minutes")))
        #expect(later?.isRetryable == true && later?.isRecipientAtFault == false)
        let stranger = try failure(at("startTLS"), from: "stranger@example.org")
        #expect(stranger?.reason == .senderRefused(SMTPReply(code: 553, enhancedStatus: "5.7.1", text: "(address) is not yours")))
        let spam = try failure(at("startTLS"), subject: "SPAM")
        #expect(spam?.reason == .messageRefused(SMTPReply(code: 554, enhancedStatus: "5.7.1", text: "Looks like spam")))
        #expect(spam?.isRetryable == false && spam?.isRecipientAtFault == false)
        // A rejection does not affect the next message.
        #expect(try failure(at("startTLS")) == nil)
    }

    @Test("a busy server is a temporary failure")
    func busy() throws {
        let busy = try failure(at("busy", .noneToLoopback))
        #expect(busy?.reason == .serverRefused(SMTPReply(code: 421, enhancedStatus: "4.3.2", text: "too many connections")))
        #expect(busy?.isRetryable == true)
    }

    @Test(
        "a timeout reports whether the message may have arrived", arguments: [("silent", false), ("mute_after", true)])
    func silent(name: String, mayHaveArrived: Bool) throws {
        let start = Monotonic.nanoseconds()
        let failure = try failure(at(name, .noneToLoopback), milliseconds: 700)
        #expect(failure?.reason == .timedOut(milliseconds: 700, mayHaveArrived: mayHaveArrived))
        #expect(failure?.isRetryable == true)
        #expect(Monotonic.nanoseconds() - start < 20_000_000_000)
    }

    @Test("a connection closed during the message is distinct from one closed after it")
    func cut() throws {
        // The message exceeds all buffers between the processes. It is passed in encoded form, because encoding is
        // slow in debug builds.
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 32 << 20)
        let library = try CurlLibrary("libcurl.so.4")
        let easy = try #require(library.table.pointee.easy_init())
        defer { library.table.pointee.easy_cleanup(easy) }
        let submission = MailSubmission(try Self.message(to: "ann@example.org"), through: try at("cut", .noneToLoopback))
        let deadline = Monotonic.nanoseconds() + 30_000_000_000
        let within = #expect(throws: MailFailure.self) {
            try MailExchange(submission, long, caFile: nil, library, until: deadline).perform(easy, afresh: false)
        }
        #expect(within?.reason == .interrupted(mayHaveArrived: false))
        #expect(within?.isRetryable == true)
        #expect(try failure(at("cut_after", .noneToLoopback))?.reason == .interrupted(mayHaveArrived: true))
    }

    @Test("unreachable servers, unresolvable names, addresses that are not allowed and other protocols are distinct failures")
    func unreachable() throws {
        #expect(try failure(SMTPServer(host: "127.0.0.1", port: 1))?.reason == .unreachable)
        #expect(try failure(SMTPServer(host: "nowhere.invalid"))?.reason == .unresolvable)
        #expect(try failure(SMTPServer(host: "169.254.169.254"))?.reason == .addressRefused)
        for host in ["192.0.2.1", "10.0.0.1", "[2001:db8::1]"] {
            #expect(throws: SMTPServer.Refusal.notLoopback) { try SMTPServer(host: host, encryption: .noneToLoopback) }
        }
        #expect(try failure(at("noise", .noneToLoopback), milliseconds: 700) != nil)
        let missing = try failure(at("startTLS"), of: CurlMailClient(caFile: nil, library: "libcurl-nowhere.so.4"))
        #expect(missing?.description.contains("apt-get install libcurl4") == true)
    }

    @Test("sending can be canceled while the server does not respond")
    func cancelled() throws {
        let start = Monotonic.nanoseconds()
        let submission = MailSubmission(try Self.message(to: "ann@example.org"), through: try at("silent", .noneToLoopback)) {
            Monotonic.nanoseconds() - start > 200_000_000
        }
        #expect(throws: MailFailure(.cancelled, at: submission.server.origin)) { try client.send(submission) }
        #expect(Monotonic.nanoseconds() - start < 20_000_000_000)
    }

    @Test("threads can share a client")
    func threads() async throws {
        let address = "\(SystemRandom().uuid())@example.org"
        let server = try at("login", .startTLS, Self.login())
        let sent = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { (try? self.failure(server, to: address, milliseconds: 20_000)) == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(sent == 16)
        #expect(try self.server.take(address).count == 16)
    }
}
