import Testing

@testable import Messages

@Suite("webhook URLs")
struct WebhookURLTests {
    @Test(
        "HTTPS URLs with a host are accepted",
        arguments: [
            "https://hooks.example.com", "https://hooks.example.com:8443/a/b?key=v", "https://10.0.0.7/x", "https://[fd00::1]:8443/",
            "https://my_service/x", "https://localhost",
        ])
    func good(_ url: String) { #expect(WebhookURL.flaw(in: url, allowsInsecureLoopback: false) == nil) }

    @Test(
        "plain HTTP is accepted for loopback hosts if allowed", arguments: ["http://127.0.0.1:9/x", "http://[::1]:9", "http://localhost/x"])
    func loopback(_ url: String) {
        #expect(WebhookURL.flaw(in: url, allowsInsecureLoopback: true) == nil)
        #expect(WebhookURL.flaw(in: url, allowsInsecureLoopback: false) != nil)
    }

    @Test(
        "other URLs are rejected, and the message does not contain the URL",
        arguments: [
            "", "hooks.example.com/x", "htps://hooks.example.com", "https:/hooks.example.com", "https://", "https:///x", "https://?x",
            "https://[]/", "https://[fd00::1", "https://hooks.example.com:0", "https://hooks.example.com:65536",
            "https://hooks.example.com:x",
            "https://me:pw@hooks.example.com", "https://hooks.example.com/#x", "https://hooks example.com",
            "https://h\u{F6}oks.example.com",
            "https://hooks.example.com/\r\nX-Injected: 1", "http://hooks.example.com", "http://127.evil.example",
        ])
    func bad(_ url: String) {
        let flaw = WebhookURL.flaw(in: url, allowsInsecureLoopback: true)
        #expect(flaw != nil)
        if url.count > 20 { #expect(flaw?.contains(url) == false) }
    }
}
