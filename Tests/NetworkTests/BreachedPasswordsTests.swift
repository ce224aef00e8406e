import Foundation
import JSON
import Testing

@testable import Network

/// `webserver.py` acts as the range service. The SHA-1 digest of "password" is 5BAA6
/// 1E4C9B93F3F0682250B6CF8331B7EE68FD8.
@Suite(.serialized) struct BreachedPasswordsTests {
    static let rest = "1E4C9B93F3F0682250B6CF8331B7EE68FD8"
    static let other = "00000000000000000000000000000000000"
    let server: TestServer

    init() throws { server = try TestServer.shared.get() }

    func outcome(_ answer: JSONObject, at base: String = "/range", path: String = "/range/5BAA6") throws -> BreachedPasswords.Outcome {
        try server.set(path, answer)
        return BreachedPasswords(url: server.origin() + base, http: CurlClient(), policy: .testing).look(up: Array("password".utf8))
    }

    @Test("a leaked password is found, whatever the case and line endings of the response")
    func found() throws {
        #expect(try outcome(["body": .string("\(Self.other):7\r\n\(Self.rest):10434004\r\n")]) == .found(times: 10_434_004))
        #expect(try outcome(["body": .string("\(Self.rest.lowercased()):3\n\(Self.other):7")], at: "/range/") == .found(times: 3))
    }

    @Test("only five digits of the digest are sent, and padding is requested")
    func digits() throws {
        #expect(try outcome(["body": ""], at: "/asked", path: "/asked/5BAA6") == .notFound)
        let seen = try server.seen("/asked/5BAA6")
        #expect(seen["headers"]?["Add-Padding"] == "true")
        #expect(seen["body"] == "")
        #expect(!seen.text.uppercased().contains(Self.rest))
    }

    @Test("other digests and padding entries are not found")
    func notFound() throws {
        #expect(try outcome(["body": .string("\(Self.other):7")]) == .notFound)
        #expect(try outcome(["body": .string("\(Self.rest):0\r\n\(Self.other):0")]) == .notFound)
    }

    @Test("a failing service yields unavailable with the reason")
    func unavailable() throws {
        #expect(try outcome(["status": 503, "body": ""]) == .unavailable(.status(503)))
        #expect(try outcome(["body": "<html>captive portal</html>"]) == .unavailable(.malformed))
        for line in [
            "\(Self.rest)", "\(Self.rest):", "\(Self.rest):-1", "\(Self.rest):x", "5BAA6\(Self.rest):1", "\(Self.rest.dropLast())G:1",
        ] {
            #expect(try outcome(["body": .string(line)]) == .unavailable(.malformed), "\(line)")
        }
        let closed = BreachedPasswords(url: "http://127.0.0.1:1/range/", http: CurlClient(), policy: .testing).look(up: [])
        guard case .unavailable(.noAnswer(let failure)) = closed else { return #expect(Bool(false), "\(closed)") }
        #expect(failure.reason == .unreachable)
        #expect(
            BreachedPasswords(url: "nonsense", http: CurlClient()).look(up: [])
                == .unavailable(.noAnswer(HTTPFailure(.malformedURL, at: ""))))
    }
}
