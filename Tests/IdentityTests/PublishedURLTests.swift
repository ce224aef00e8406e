import Testing

@testable import Identity

@Suite("What a provider names for people to open")
struct PublishedURLTests {
    @Test(
        "https with a host is good, and plain http on this machine where an administrator has said so",
        arguments: [
            "https://login.example.com", "https://login.example.com/authorize?tenant=a@b&x=1", "https://login.example.com:8443/#/device",
            "https://[2001:db8::1]/a",
        ])
    func good(_ url: String) {
        #expect(PublishedURL.isGood(url, allowsPlainLoopback: false))
        #expect(PublishedURL.isGood("http://127.0.0.1:8080/a", allowsPlainLoopback: true))
    }

    @Test(
        "scripts, files, machines without TLS, names with passwords and half URLs are not",
        arguments: [
            "", "/authorize", "login.example.com", "javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "file:///etc/passwd",
            "http://login.example.com/", "https://", "https:///authorize", "https://u:p@login.example.com/",
            "https://good.example\\@evil.example/",
            "https://login.example.com/a b", "https://login.example.com/\n", "https://login.example.com/?a=\"",
            "https://login.example.com/é",
        ])
    func bad(_ url: String) {
        #expect(!PublishedURL.isGood(url, allowsPlainLoopback: true))
        #expect(!PublishedURL.isGood("http://127.0.0.1:8080/a", allowsPlainLoopback: false))
    }
}
