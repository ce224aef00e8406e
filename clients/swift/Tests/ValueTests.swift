import Foundation
import MintmarkClient
import Synchronization
import Testing

@Suite("Values of the client")
struct ValueTests {
    @Test("unknown members and enumeration values are kept")
    func unknown() throws {
        let wire: JSONValue = [
            "identityId": "i", "poolId": "p", "state": "petrified", "logins": ["login.shop"], "createdAt": 1, "updatedAt": 2,
            "aura": ["colour": "blue"],
        ]
        let identity = try IdentityDescription(wire: wire)
        #expect(identity.state == "petrified" && identity.state != .guest)
        #expect(identity.unknown == ["aura": ["colour": "blue"]])
        #expect(identity.wire == wire)
        #expect(identity.createdAt < identity.updatedAt)
    }

    @Test("printing and dumping show neither secrets nor unknown values")
    func secrets() throws {
        let tokens = try Credentials(wire: [
            "accessKeyId": "MTKA", "secretAccessKey": "hush", "sessionToken": "psst", "expiresAt": 1, "new": "whisper",
        ])
        var dumped = ""
        dump([tokens], to: &dumped)
        for text in ["\(tokens)", "\([tokens])", String(reflecting: tokens), dumped, "\(Optional(tokens) as Any)"] {
            #expect(!text.contains("hush") && !text.contains("psst") && !text.contains("whisper"), "\(text)")
            #expect(text.contains("MTKA") || text == dumped)
        }
    }

    @Test("a step has the payload of its state, and an unknown state keeps its JSON")
    func steps() throws {
        let wire: JSONValue = ["state": "completed", "continuationToken": "hush", "expiresAt": 1, "accountId": "a", "aura": "blue"]
        let step = try SignUpStep(wire: wire)
        guard case .completed(let completed) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(completed.accountId == "a" && step.wire == wire && completed.unknown == ["aura": "blue"])
        #expect(!"\(step)".contains("hush") && !"\(step)".contains("blue") && "\(step)".contains(#"accountId: "a""#), "\(step)")
        let later: JSONValue = ["state": "moonRequired", "moon": "hush"]
        #expect(try SignUpStep(wire: later) == .other(["state": "moonRequired", "moon": "hush"]))
        #expect(try SignUpStep(wire: later).wire == later && !"\(try SignUpStep(wire: later))".contains("hush"))
    }

    @Test("an error has its message as localized description")
    func errors() async throws {
        struct Refusing: Caller {
            func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue { 5 }
        }
        let wrong = await #expect(throws: ProtocolError.self) { try await PoolMethods(Refusing()).list() }
        #expect((wrong as (any Error)?)?.localizedDescription == wrong?.description)
    }

    @Test("an error names the member that is missing or has another type")
    func wrongValues() throws {
        let wrong = #expect(throws: UnexpectedValue.self) { try Credentials(wire: ["accessKeyId": 1]) }
        #expect(wrong?.description == "accessKeyId: not a string")
        let missing = #expect(throws: UnexpectedValue.self) { try Credentials(wire: [:]) }
        #expect(missing?.description.contains("accessKeyId") == true)
    }

    @Test("supported values convert to JSON, and other values fail with UsageError")
    func anyValues() throws {
        let nested: [String: Any] = ["a": [1, 2.5, "x", true, nil] as [Any?], "b": ["c": UInt8(7)]]
        #expect(try JSONValue(any: nested).text == #"{"a":[1,2.5,"x",true,null],"b":{"c":7}}"#)
        #expect(throws: UsageError.self) { try JSONValue(Double.nan) }
        #expect(throws: UsageError.self) { try JSONValue(any: [Double.infinity]) }
        #expect(throws: UsageError.self) { try JSONValue(any: ["f": { () in }]) }
        #expect(throws: UsageError.self) { try JSONValue(any: UInt64.max) }
        let deep = (0..<100).reduce(1 as Any) { value, _ in [value] }
        #expect(throws: UsageError.self) { try JSONValue(any: deep) }
    }

    @Test("all pages are requested in order")
    func pages() async throws {
        final class Books: Caller {
            let cursors = Mutex<[String?]>([])
            func answer(to method: String, _ params: JSONObject, timeout: Duration?, trace: String?) async throws -> JSONValue {
                cursors.withLock { $0.append(params["cursor"]?.string) }
                return params["cursor"] == nil ? ["pools": [], "nextCursor": "two"] : ["pools": []]
            }
        }
        let books = Books()
        var count = 0
        for try await page in PoolMethods(books).listPages() { count += page.pools.isEmpty ? 1 : 0 }
        #expect(count == 2)
        #expect(books.cursors.withLock { $0 } == [nil, "two"])
        for try await _ in PoolMethods(books).listAll() { count += 1 }
        #expect(count == 2)
        #expect(books.cursors.withLock { $0 } == [nil, "two", nil, "two"])
    }

    @Test("a program that exits without output and a folder fail with advice")
    func wrongBinary() async throws {
        let ended = await #expect(throws: ProcessEndedError.self) {
            try await Mintmark.start(store: ":memory:", binary: "/bin/true", log: .discarded)
        }
        let text = ended?.description ?? ""
        #expect(
            text.contains("/bin/true") && text.contains("binary: … or MINTMARK_BINARY") && !text.contains("in memory"), "\(text)")
        let folder = await #expect(throws: BinaryNotFoundError.self) {
            try await Mintmark.start(store: ":memory:", binary: "/usr", log: .discarded)
        }
        #expect(folder?.description.contains("/usr cannot be started: it is a folder") == true)
        await #expect(throws: UsageError.self) { try await Mintmark.start(store: ":memory:", binary: "") }
    }

    @Test("a missing program fails with advice")
    func missingBinary() async throws {
        let missing = await #expect(throws: BinaryNotFoundError.self) {
            try await Mintmark.start(store: ":memory:", binary: "/nowhere/mintmark", log: .discarded)
        }
        #expect(missing?.description.contains("/nowhere/mintmark") == true && missing?.description.contains("MINTMARK_BINARY") == true)
    }
}
