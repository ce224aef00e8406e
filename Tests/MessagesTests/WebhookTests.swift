import Crypto
import Foundation
import JSON
import Network
import Platform
import Testing

@testable import Messages

/// The webhook with a receiver that verifies each request: `Tests/Interop/webhookserver.py`.
@Suite struct WebhookTests {
    static let port = Result {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Interop/webhookserver.py").standardizedFileURL
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path]
        let output = Pipe()
        // The receiver ends when its input closes, which happens when this process ends.
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        return try #require(Int(line.trimmingCharacters(in: .newlines)))
    }
    static let input = Pipe()

    struct At: WallClock {
        let now: Int64
    }

    let port: Int
    let client = CurlClient()
    let loopback = HTTPPolicy(allowsInsecureLoopback: true, timeoutMilliseconds: 5000)
    let first = SecretBytes(Array("first secret of a webhook".utf8))
    let second = SecretBytes(Array("second secret of a webhook".utf8))
    let id = WebhookId(random: SystemRandom())
    let message = WebhookMessage(
        channel: .sms, to: "+15551234567", purpose: .signUp, tenantId: "shop", language: "de", code: "12345678", expiresAt: 1_700_000_600,
        text: "Grüße: 12345678")

    init() throws { port = try Self.port.get() }

    func webhook(_ status: String, _ secrets: [SecretBytes]? = nil) throws -> Webhook {
        let url = "http://127.0.0.1:\(port)/\(status)"
        return Webhook(
            try WebhookEndpoint(url: url, secrets: secrets ?? [first], policy: loopback), http: client, clock: At(now: 1_700_000_000))
    }

    func came() throws -> JSONValue {
        try JSONValue(parsing: client.send(HTTPRequest(url: "http://127.0.0.1:\(port)/\(id)", policy: loopback)).body)
    }

    @Test("a message is posted as JSON, signed over timestamp, ID and body", arguments: ["200", "202", "204"])
    func arrives(status: String) throws {
        try webhook(status).post(message, id: id)
        let came = try came()
        #expect(came["secrets"] == ["first secret of a webhook"])
        #expect(came["timestamp"] == 1_700_000_000)
        #expect(came["type"] == "application/json")
        #expect(
            came["body"] == [
                "type": "message.send", "channel": "sms", "to": "+15551234567", "purpose": "signUp", "tenantId": "shop", "language": "de",
                "text": "Grüße: 12345678", "code": "12345678", "expiresAt": 1_700_000_600,
            ])
    }

    @Test("during the replacement of a secret, the message is signed with both")
    func replacing() throws {
        try webhook("200", [second, first]).post(message, id: id)
        #expect(try came()["secrets"] == ["first secret of a webhook", "second secret of a webhook"])
    }

    @Test("the signature equals the output of openssl dgst -sha256 -hmac")
    func vector() throws {
        let endpoint = try WebhookEndpoint(url: "https://example.com", secrets: [first])
        let id = try #require(WebhookId("msg_1"))
        #expect(
            endpoint.signature(of: Array("{\"a\":1}".utf8), id: id, at: 1_700_000_000)
                == "v1=af9b933ca9d7a6e9fb44e19d35c6a4a2529c4ff39d9d38c3167123c758f3a32a")
    }

    @Test(
        "any other status fails without a retry and reports whether and when to retry",
        arguments: [
            ("400", false), ("401", false), ("404", false), ("408", true), ("410", false), ("429", true), ("500", true), ("503", true),
        ])
    func refused(status: String, isRetryable: Bool) throws {
        let failure = #expect(throws: WebhookFailure.self) { try webhook(status).post(message, id: id) }
        #expect(failure == .refused(status: Int(status)!, retryAfterSeconds: 30))
        #expect(failure.map { "\($0)" } == "The webhook returned status \(status); a status from 200 to 299 is required.")
        #expect(failure?.isRetryable == isRetryable)
        #expect(try came()["count"] == 1)
    }

    @Test("redirects are not followed, plain HTTP is allowed only on loopback, and a refused connection is retryable")
    func unreachable() throws {
        let redirected = #expect(throws: WebhookFailure.self) { try webhook("307").post(message, id: id) }
        #expect(redirected?.isRetryable == false)
        #expect(try came()["count"] == 1)
        func failure(_ url: String, _ policy: HTTPPolicy = HTTPPolicy()) throws -> WebhookFailure? {
            let webhook = Webhook(try WebhookEndpoint(url: url, secrets: [first], policy: policy), http: client, clock: SystemClock())
            return #expect(throws: WebhookFailure.self) { try webhook.post(message, id: id) }
        }
        #expect(throws: WebhookEndpoint.Refusal.url("plain HTTP is allowed only for loopback addresses")) {
            try failure("http://example.com/hook")
        }
        #expect(try failure("https://10.0.0.1/hook")?.isRetryable == false)
        let closed = try failure("http://127.0.0.1:1/hook?secret=1", loopback)
        #expect(closed?.isRetryable == true)
        #expect(closed?.description.contains("secret") == false)
    }

    @Test("zero, three or short secrets are rejected, and IDs with dots or other characters are rejected")
    func settings() {
        for secrets in [[], [first, second, first], [SecretBytes(Array("fifteen letters".utf8))]] {
            #expect(throws: WebhookEndpoint.Refusal.secrets(minimumBytes: 16)) {
                try WebhookEndpoint(url: "https://a.example", secrets: secrets)
            }
        }
        for text in ["", "a.b", "a b", "a\r\nX: y", "ä", String(repeating: "a", count: 65)] { #expect(WebhookId(text) == nil) }
        #expect(WebhookId("msg_Az-09")?.description == "msg_Az-09")
    }
}
