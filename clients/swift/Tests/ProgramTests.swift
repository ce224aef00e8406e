import Foundation
import MintmarkClient
import Synchronization
import Testing

@Suite("Programs that do not behave like Mintmark", .timeLimit(.minutes(10)))
struct ProgramTests {
    private static let answers = #"echo '{"jsonrpc":"2.0","id":'$id',"result":{"pools":[]}}'"#

    @Test("a program that cannot parse system.info fails with ProtocolError")
    func unreadable() async throws {
        let other = try StandIn(says: #"echo '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}'"#, ":")
        defer { other.remove() }
        let wrong = await #expect(throws: ProtocolError.self) { try await other.start() }
        #expect(wrong?.description.contains("it cannot read system.info. Is it the right program?") == true)
    }

    @Test(
        "a text that is not a version does not fail with BinaryTooOldError",
        arguments: ["dev", "", "main-7b19962", "1.x", "0..0", "0.99999999999999999999"])
    func noVersion(version: String) async throws {
        let program = try StandIn(version: version, Self.answers)
        defer { program.remove() }
        let m = try await program.start()
        #expect(try await m.pool.list().pools.isEmpty)
        await m.close()
    }

    @Test("a version below the client's fails with BinaryTooOldError", arguments: ["0", "0.0.9", "0.0.9-beta", "0.0.9+5"])
    func oldVersion(version: String) async throws {
        let program = try StandIn(version: version, Self.answers)
        defer { program.remove() }
        await #expect(throws: BinaryTooOldError.self) { try await program.start() }
    }

    @Test("a second system.info result, a result without an ID and unrequested progress are ignored")
    func unasked() async throws {
        let program = try StandIn(
            #"""
            echo '{"jsonrpc":"2.0","id":0,"result":{"version":"0.0.1"}}'
            echo '{"jsonrpc":"2.0","id":null,"result":{"pools":5}}'
            echo '{"jsonrpc":"2.0","method":"$/progress","params":{"token":'$id',"value":{}}}'
            """# + "\n" + Self.answers)
        defer { program.remove() }
        let m = try await program.start()
        #expect(try await m.pool.list().pools.isEmpty)
        #expect(try await m.pool.list().pools.isEmpty)
        await m.close()
    }

    @Test("close kills the children of a script")
    func script() async throws {
        let script = try StandIn(#"sleep 600 & echo '{"jsonrpc":"2.0","method":"moon/risen","params":{"sleeper":'$!'}}'; wait"#)
        defer { script.remove() }
        let m = try await script.start()
        var heard = m.notifications.makeAsyncIterator()
        let waiting = Task { try await m.pool.list() }
        let sleeper = try #require(await heard.next()?.params["sleeper"]?.int)
        await m.close(within: .zero)
        await #expect(throws: ProcessEndedError.self) { try await waiting.value }
        // A killed process that was not waited for is a zombie.
        let deadline = ContinuousClock.now + .seconds(60)
        while let state = state(of: sleeper), state != "Z" {
            try #require(ContinuousClock.now < deadline, "it sleeps on")
            await Task.yield()
        }
    }

    /// The state letter of a process, or nil if it does not exist.
    private func state(of process: Int64) -> Substring? {
        let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return text?.split(separator: ")").last?.split(separator: " ").first
    }

    @Test("a blocked log handler does not delay responses")
    func slowLog() async throws {
        let talker = try StandIn(#"echo 'words of mine' >&2; \#(Self.answers)"#)
        defer { talker.remove() }
        let (isHeard, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        defer { mayEnd.signal() }
        let m = try await talker.start(
            log: .handler { _ in
                isHeard.signal()
                mayEnd.wait()
            })
        #expect(try await m.pool.list(timeout: .seconds(60)).pools.isEmpty)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                isHeard.wait()
                continuation.resume()
            }
        }
        #expect(try await m.pool.list(timeout: .seconds(60)).pools.isEmpty)
        await m.close(within: .zero)
    }

    @Test("closing a provider after a restart of its process succeeds")
    func closeAfterRestart() async throws {
        let anew = try StandIn(
            #"""
            case "$line" in
            *credentialsProvider.close*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":3030,"message":"gone","data":{"type":"providerNotOpen","provider":"p"}}}';;
            *) echo '{"jsonrpc":"2.0","id":'$id',"result":{"provider":"p","state":"ready","identityId":"i"}}';;
            esac
            """#)
        defer { anew.remove() }
        let m = try await anew.start()
        let provider = CredentialsProvider(m, poolId: "p") { _ in ("i", "t") }
        _ = try await provider.get()
        try await provider.close()
        await m.close()
    }
}
