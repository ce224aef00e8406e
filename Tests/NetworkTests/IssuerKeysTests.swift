import Crypto
import Foundation
import JSON
import Platform
import Synchronization
import Testing

@testable import Network

/// A fake HTTP client with issuers that respond from a table, and a clock that the tests advance.
private final class World: HTTPClient {
    let pages = Mutex<[String: HTTPResponse]>([:])
    let requests = Mutex<[HTTPRequest]>([])
    let now = Atomic<UInt64>(1_000_000_000_000)
    /// While this is `true`, requests block.
    let gate = ConditionLock(false)

    func send(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        requests.withLock { $0.append(request) }
        gate.wait { $0 ? nil : () }
        guard let page = pages.withLock({ $0[request.url] }) else { throw HTTPFailure(.unreachable, at: request.url) }
        return page
    }

    func publish(_ issuer: String, _ keys: [PublicKey], headers: [(name: String, value: String)] = []) {
        var writer = JSONWriter()
        JWKSet(keys).write(to: &writer)
        let set = writer.bytes
        let description: JSONValue = ["issuer": .string(issuer), "jwks_uri": .string("https://keys.example/\(issuer.count)")]
        pages.withLock {
            $0[IssuerAddress(issuer).discoveryURL] = HTTPResponse(
                status: 200, body: description.bytes)
            $0["https://keys.example/\(issuer.count)"] = HTTPResponse(status: 200, headers: headers, body: set)
        }
    }

    func turn(seconds: UInt64) { now.add(seconds * 1_000_000_000, ordering: .relaxed) }
    var asked: Int { requests.withLock { $0.count } }
}

@Suite struct IssuerKeysTests {
    private let world = World()
    let key: PublicKey
    let known: JWSHeader
    let issuer = IssuerAddress("https://login.example")
    let keys: IssuerKeys
    let reports = Reports()

    final class Reports: Sendable {
        let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
    }

    init() throws {
        key = try PrivateKey.generate(.ES256).publicKey
        known = try header(kid: key.keyID)
        let (world, reports) = (world, reports)
        keys = IssuerKeys(world, clock: { world.now.load(ordering: .relaxed) }) { _, failure in
            reports.list.withLock { $0.append(failure?.check.rawValue ?? "ok") }
        }
        world.publish(issuer.issuer, [key])
    }

    func isKnown(_ address: IssuerAddress? = nil) throws -> Bool {
        if case .known(let key?) = try keys.lookUp(known, of: address ?? issuer) { return key.keyID == self.key.keyID }
        return false
    }

    @Test("fetched keys are known without another request, but only for the same network permissions")
    func once() throws {
        #expect(try !isKnown())
        #expect(try keys.key(for: known, of: issuer)?.keyID == key.keyID)
        #expect(try isKnown())
        #expect(world.asked == 2)
        #expect(try !isKnown(IssuerAddress(issuer.issuer, allowsPrivateNetwork: true)))
        #expect(reports.all == ["ok"])
    }

    @Test("twenty concurrent callers share one request, and a registered callback is called when it completes")
    func together() throws {
        world.gate.withLock { $0 = true }
        let (done, told) = (ConditionLock(0), ConditionLock(false))
        for _ in 0..<20 {
            _ = Thread.start(name: "asker") { [keys, known, issuer] in
                let found = try? keys.key(for: known, of: issuer)
                done.withLock { $0 += found == nil ? 1000 : 1 }
                done.signal()
            }
        }
        while world.asked == 0 { Foundation.Thread.sleep(forTimeInterval: 0.001) }
        if case .isAsked = try keys.lookUp(known, of: issuer) {} else { Issue.record("nobody asks") }
        keys.whenAnswered(issuer) {
            told.withLock { $0 = true }
            told.signal()
        }
        #expect(!told.withLock { $0 })
        world.gate.withLock { $0 = false }
        world.gate.broadcast()
        #expect(done.wait(deadline: Monotonic.nanoseconds() + 10_000_000_000) { $0 >= 20 ? $0 : nil } == 20)
        #expect(told.wait(deadline: Monotonic.nanoseconds() + 10_000_000_000) { $0 ? true : nil } == true)
        #expect(world.asked == 2)
    }

    @Test(
        "the lifetime of keys follows the issuer's Cache-Control, between five minutes and one day",
        arguments: [
            ("", 3600), ("max-age=900", 900), ("max-age=1", 300), ("no-store", 300), ("max-age=9999999", 86_400),
        ])
    func lifetimes(cacheControl: String, seconds: UInt64) throws {
        world.publish(issuer.issuer, [key], headers: cacheControl.isEmpty ? [] : [("Cache-Control", cacheControl)])
        _ = try keys.key(for: known, of: issuer)
        world.turn(seconds: seconds - 1)
        #expect(try isKnown())
        #expect(world.asked == 2)
        world.turn(seconds: 1)
        #expect(try isKnown())
        while world.asked < 4 { Foundation.Thread.sleep(forTimeInterval: 0.001) }
    }

    @Test("keys of an unavailable issuer remain valid for at most one day after their lifetime")
    func outage() throws {
        _ = try keys.key(for: known, of: issuer)
        world.pages.withLock { $0 = [:] }
        world.turn(seconds: 3600 + 86_399)
        #expect(try keys.key(for: known, of: issuer)?.keyID == key.keyID)
        #expect(reports.all == ["ok", "unavailable"])
        world.turn(seconds: 31)
        #expect(throws: IssuerFailure.self) { try keys.key(for: known, of: issuer) }
        world.publish(issuer.issuer, [key])
        world.turn(seconds: 31)
        #expect(try keys.key(for: known, of: issuer)?.keyID == key.keyID)
    }

    @Test("above the capacity, the issuer that was not requested for the longest time is evicted")
    func capacity() throws {
        _ = try keys.key(for: known, of: issuer)
        for number in 0..<IssuerKeys.capacity {
            world.turn(seconds: 1)
            _ = try? keys.key(for: known, of: IssuerAddress("https://\(number).example"))
        }
        #expect(try !isKnown())
        #expect(throws: IssuerFailure.self) { try keys.lookUp(known, of: IssuerAddress("https://\(IssuerKeys.capacity - 1).example")) }
    }

    @Test("a trailing slash of an issuer is omitted from its discovery URL, but is significant in its name")
    func slashes() throws {
        #expect(IssuerAddress("https://a.example/t/").discoveryURL == "https://a.example/t/.well-known/openid-configuration")
        #expect(IssuerAddress("https://a.example/t").discoveryURL == "https://a.example/t/.well-known/openid-configuration")
        #expect(throws: IssuerFailure.self) { try keys.key(for: known, of: IssuerAddress(issuer.issuer + "/")) }
        #expect(reports.all == ["issuer"])
    }

    @Test(
        "an endpoint in a discovery document can be on loopback only for a loopback issuer, or with permission",
        arguments: [
            ("https://127.0.0.1:1", "https://127.0.0.1:1/jwks", true), ("https://127.0.0.1:1", "https://127.0.0.1:12/jwks", false),
            ("https://127.0.0.1:1", "http://127.0.0.1:1/jwks", false), ("https://127.0.0.1:1/a", "https://127.0.0.1:1@b.example/", false),
            ("http://127.0.0.1:1/a", "http://127.0.0.1:2/jwks", true), ("https://login.example", "http://localhost/", false),
        ])
    func named(issuer: String, url: String, isReachable: Bool) {
        let address = IssuerAddress(issuer, allowsInsecureLoopback: true)
        #expect(address.policy(forNamed: url).addresses.allowsInsecureLoopback == isReachable)
        #expect(!address.policy(forNamed: url).addresses.allowsPrivateNetwork)
        #expect(IssuerAddress(issuer, allowsPrivateNetwork: true).policy(forNamed: url).addresses.allowsPrivateNetwork)
    }
}
