import Loopback
import Synchronization
import Testing

@testable import Console

struct AccessTests {
    private final class Clock: Sendable {
        let now = Atomic<UInt64>(1)
        func advance(seconds: UInt64) { now.add(seconds * 1_000_000_000, ordering: .relaxed) }
    }

    private let clock = Clock()
    private let access: Access

    init() {
        let clock = clock
        access = Access(now: { clock.now.load(ordering: .relaxed) })
    }

    @Test("a token is exchanged once")
    func once() throws {
        let token = access.newToken()
        let cookie = try #require(access.exchange(token))
        #expect(access.exchange(token) == nil)
        #expect(access.formToken(cookie) != nil)
        #expect(access.formToken(token) == nil)
        #expect(access.formToken(nil) == nil)
    }

    @Test("a token expires after ten minutes")
    func tokenExpiry() {
        let (first, second) = (access.newToken(), access.newToken())
        clock.advance(seconds: 599)
        #expect(access.exchange(first) != nil)
        clock.advance(seconds: 2)
        #expect(access.exchange(second) == nil)
    }

    @Test("a session expires after twelve hours")
    func sessionExpiry() throws {
        let cookie = try #require(access.exchange(access.newToken()))
        clock.advance(seconds: 12 * 3600 - 1)
        #expect(access.formToken(cookie) != nil)
        clock.advance(seconds: 2)
        #expect(access.formToken(cookie) == nil)
    }

    @Test(
        "only the own port of a loopback address is an own host",
        arguments: [
            ("127.0.0.1:80", true), ("localhost:80", true), ("[::1]:80", true), ("127.0.0.1:81", false), ("127.0.0.1", false),
            ("evil.example:80", false), ("", false),
        ])
    func host(name: String, isOwn: Bool) { #expect(Access.isOwnHost(name, port: 80) == isOwn) }

    @Test(
        "a foreign origin or site is not an own page",
        arguments: [
            ([:], true), (["origin": "http://localhost:80"], true), (["origin": "null", "sec-fetch-site": "same-origin"], true),
            (["sec-fetch-site": "none"], true), (["origin": "null"], false), (["origin": "https://localhost:80"], false),
            (["sec-fetch-site": "same-site"], false), (["sec-fetch-site": "cross-site", "origin": "http://localhost:80"], false),
        ] as [([String: String], Bool)])
    func origin(headers: [String: String], isOwn: Bool) {
        let request = LoopbackRequest(method: "POST", target: "/", headers: headers.map { ($0.key, $0.value) })
        #expect(Access.isOwnPage(request, port: 80) == isOwn)
    }
}
