import Foundation
import JSON
import Platform
import Testing

@testable import Network

/// How the client connects: loading of the library, proxies, reuse of connections.
@Suite struct CurlConnectionTests {
    let server: TestServer
    let https = HTTPPolicy(allowsPrivateNetwork: true)

    init() throws { server = try TestServer.shared.get() }

    @Test("libcurl is not loaded before the first request")
    func loadedLate() async {
        await #expect(processExitsWith: .success) {
            func isLoaded() throws -> Bool {
                let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/maps")).readToEnd() ?? Data()
                try #require(maps.firstRange(of: Data("libcrypto".utf8)) != nil)
                return maps.firstRange(of: Data("libcurl".utf8)) != nil
            }
            let client = CurlClient()
            let before = try isLoaded()
            _ = try? client.send(HTTPRequest(url: "http://127.0.0.1:1/", policy: .testing))
            let after = try isLoaded()
            exit(!before && after ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("a missing libcurl is reported with the command that installs it, and is searched for again by the next request")
    func missing() {
        let client = CurlClient(.init(), library: "libcurl-nowhere.so.4")
        for _ in 0..<2 {
            let failure = #expect(throws: HTTPFailure.self) { try client.send(HTTPRequest(url: "https://example.com/")) }
            #expect(failure?.description.contains("apt-get install libcurl4") == true)
        }
        let unfit = #expect(throws: HTTPFailure.self) {
            try CurlClient(.init(), library: "libm.so.6").send(HTTPRequest(url: "https://example.com/"))
        }
        #expect(unfit?.description.contains("libm.so.6 has no curl_global_init") == true)
    }

    @Test("an HTTPS request uses the configured proxy, and a request to loopback does not")
    func proxy() throws {
        try server.set("/proxied", ["body": "through"])
        let client = CurlClient(.init(caFile: server.caFile, proxy: server.origin("proxy")))
        #expect(try client.send(HTTPRequest(url: "https://issuer.invalid/proxied")).body == Array("through".utf8))
        #expect(try server.count("issuer.invalid:443") == 1)
        #expect(try client.send(HTTPRequest(url: "https://issuer.invalid/proxied")).header("x-proxy") == nil)

        #expect(try client.send(HTTPRequest(url: server.origin("https") + "/proxied", policy: https)).status == 200)
        #expect(try server.count("127.0.0.1:\(server.ports["https"]!)") == 0)
        #expect(throws: HTTPFailure(.privateAddress, at: "https://10.0.0.1")) { try client.send(HTTPRequest(url: "https://10.0.0.1/")) }
    }

    @Test("an unreachable proxy and a rejecting proxy are reported as the cause")
    func brokenProxy() {
        for proxy in ["http://127.0.0.1:1", "http://nowhere.invalid", server.origin()] {
            #expect(throws: HTTPFailure(.proxyFailed, at: "https://issuer.invalid"), "\(proxy)") {
                try CurlClient(.init(proxy: proxy)).send(HTTPRequest(url: "https://issuer.invalid/"))
            }
        }
    }

    @Test("proxies and certificates in environment variables are ignored")
    func environment() async throws {
        // A separate process keeps the variables from affecting other tests.
        await #expect(processExitsWith: .success) {
            let server = try TestServer.shared.get()
            try server.set("/direct", ["body": "direct"])
            for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:1", 1) }
            for name in ["SSL_CERT_FILE", "CURL_CA_BUNDLE"] { setenv(name, server.caFile, 1) }
            let https = HTTPPolicy(allowsPrivateNetwork: true)
            let direct = try CurlClient(.init(caFile: server.caFile)).send(
                HTTPRequest(url: server.origin("https") + "/direct", policy: https))
            let plain = try CurlClient().send(HTTPRequest(url: server.origin() + "/direct", policy: .testing))
            // Without `--ca-file`, the authority is unknown, whatever the environment contains.
            let untrusted = (try? CurlClient().send(HTTPRequest(url: server.origin("https") + "/direct", policy: https))) == nil
            exit(direct.status == 200 && plain.status == 200 && untrusted ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("connections are reused, but not under a policy other than the one they were opened with")
    func reuse() throws {
        try server.set("/reuse", [:])
        let client = CurlClient()
        let url = server.origin().replacing("127.0.0.1", with: "localhost") + "/reuse"
        _ = try client.send(HTTPRequest(url: url, policy: .testing))
        let first = try server.seen("/reuse")["client"]
        _ = try client.send(HTTPRequest(url: url, policy: .testing))
        #expect(try server.seen("/reuse")["client"] == first)
        _ = try client.send(HTTPRequest(url: url, policy: HTTPPolicy(allowsInsecureLoopback: true, allowsPrivateNetwork: true)))
        #expect(try server.seen("/reuse")["client"] != first)
        #expect(try server.count("/reuse") == 3)
    }

    /// A host name of this machine other than `localhost`. The test requires that all its addresses are private.
    static let ownName = ProcessInfo.processInfo.hostName
    static var isOwnNamePrivate: Bool {
        var found: UnsafeMutablePointer<addrinfo>?
        guard ownName != "localhost", getaddrinfo(ownName, nil, nil, &found) == 0, let found else { return false }
        defer { freeaddrinfo(found) }
        return sequence(first: found, next: \.pointee.ai_next).allSatisfy { NetworkAddress($0.pointee.ai_addr)?.reach != .everyone }
    }

    @Test("a host name is allowed or rejected by the address that it resolves to", .enabled(if: isOwnNamePrivate))
    func resolved() throws {
        let url = "https://\(Self.ownName):\(server.ports["https"]!)/"
        let failure = #expect(throws: HTTPFailure.self) { try CurlClient().send(HTTPRequest(url: url)) }
        #expect(failure?.reason == .privateAddress)
        let connected = #expect(throws: HTTPFailure.self) { try CurlClient().send(HTTPRequest(url: url, policy: https)) }
        #expect(connected?.reason != .privateAddress)
    }

    @Test("threads can share a client")
    func threads() async throws {
        try server.set("/many", ["body": "one of many"])
        let client = CurlClient(.init(caFile: server.caFile))
        let url = server.origin("https") + "/many"
        let good = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 { group.addTask { (try? client.send(HTTPRequest(url: url, policy: self.https)))?.status == 200 } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 64)
    }
}
