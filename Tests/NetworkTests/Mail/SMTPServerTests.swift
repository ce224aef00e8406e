import Crypto
import Testing

@testable import Network

@Suite struct SMTPServerTests {
    static func refusal(_ make: () throws -> SMTPServer) -> SMTPServer.Refusal? {
        do {
            _ = try make()
            return nil
        } catch { return error as? SMTPServer.Refusal }
    }

    @Test("a URL sets host, port and encryption; smtp requires STARTTLS and smtps uses TLS")
    func urls() throws {
        let submission = try SMTPServer(url: "smtp://mail.example.com")
        #expect((submission.origin, submission.encryption) == ("smtp://mail.example.com:587", .startTLS))
        let implicit = try SMTPServer(url: "smtps://mail.example.com/")
        #expect((implicit.origin, implicit.encryption) == ("smtps://mail.example.com:465", .implicit))
        #expect(try SMTPServer(url: "smtp://[::1]:2525").origin == "smtp://[::1]:2525")
        #expect(try SMTPServer(url: "smtp://127.0.0.1:25", isUnencrypted: true).encryption == .noneToLoopback)
    }

    @Test(
        "malformed server URLs are rejected",
        arguments: [
            ("mail.example.com", .url), ("http://mail.example.com", .url), ("smtp://user:secret@mail.example.com", .url),
            ("smtp://mail.example.com/path", .url), ("smtp://mail.example.com?x", .url), ("smtp://", .host), ("smtp://a b", .host),
            ("smtp://a\r\nQUIT", .host), ("smtp://a\u{0}", .host), ("smtp://[::1", .host), ("smtp://[127.0.0.1]", .host),
            ("smtp://-a", .host),
            ("smtp://m\u{fc}ller.example", .host), ("smtp://a:0", .port), ("smtp://a:65536", .port), ("smtp://a:", .port),
            ("smtp://a:+5", .port),
        ] as [(String, SMTPServer.Refusal)])
    func refused(url: String, refusal: SMTPServer.Refusal) { #expect(Self.refusal { try SMTPServer(url: url) } == refusal) }

    @Test("logins and greeting names with characters that SMTP cannot transmit are rejected")
    func unsayable() {
        func login(_ user: String, _ password: String) -> SMTPServer.Login {
            .init(user: user, password: SecretBytes(Array(password.utf8)))
        }
        for bad in [login("", "x"), login("a\u{0}b", "x"), login("a", "x\u{0}y")] {
            #expect(Self.refusal { try SMTPServer(host: "mail.example.com", login: bad) } == .login)
        }
        #expect(Self.refusal { try SMTPServer(host: "mail.example.com", greetingName: "a/b") } == .greetingName)
        #expect(Self.refusal { try SMTPServer(host: "mail.example.com", greetingName: "a\r\nMAIL") } == .greetingName)
    }
}
