import Contract
import JSON
import Platform
import Storage
import Synchronization
import Testing

@testable import Identity

/// A call; over a pipe it can be answered by another one.
private struct TestCall: CallContext {
    var trace: String? { nil }
    var isCancelled: Bool { false }
    var isPublicCaller: Bool { false }
    var mayAnswerLater = false
    func progress(_ value: JSONValue) {}
}

private let ready = CredentialsProviderAnswer(state: .ready, identityId: "a")

/// A provider whose refreshes end when the test says so.
private final class SlowProvider: Sendable {
    let provider = OpenProvider(
        handle: "h",
        settings: .init(
            key: .init(poolId: "p", key: "k"), asksCaller: false, flow: .enhanced, roleArn: nil, customRoleArn: nil,
            refreshAheadSeconds: 600),
        memory: ProviderMemory(logins: [:]))
    private let mayEnd = Gate<Result<CredentialsProviderAnswer, StoreBusy>?>(nil)
    private let begun = Gate(0)
    private let ended = Gate<[Result<CredentialsProviderAnswer, any Error>]>([])

    var refreshes: Int { begun.withLock { $0 } }

    /// Asks for credentials on a thread of its own.
    func ask(_ call: TestCall = TestCall()) {
        Thread.start(name: "ask") {
            let outcome = Result { try self.refresh(call) }
            self.ended.withLock { $0.append(outcome) }
            self.ended.broadcast()
        }
    }

    func refresh(_ call: TestCall) throws -> CredentialsProviderAnswer {
        try provider.refresh(call, held: { _ in nil }) { memory in
            self.begun.withLock { $0 += 1 }
            self.begun.broadcast()
            memory.identityId = "a"
            return try self.mayEnd.wait { $0 }.get()
        }
    }

    func waitUntilBegun() { begun.wait { $0 > 0 ? () : nil } }

    func end(_ outcome: Result<CredentialsProviderAnswer, StoreBusy>) {
        mayEnd.withLock { $0 = outcome }
        mayEnd.broadcast()
    }

    func outcomes(_ count: Int) -> [Result<CredentialsProviderAnswer, any Error>] { ended.wait { $0.count == count ? $0 : nil } }
}

@Suite("one refresh at a time")
struct OpenProviderTests {
    @Test("who may not wait elsewhere waits for the refresh that is under way, and shares what it brings")
    func waiting() throws {
        let slow = SlowProvider()
        slow.ask()
        slow.waitUntilBegun()
        for _ in 0..<5 { slow.ask() }
        slow.end(.success(ready))
        #expect(try slow.outcomes(6).map { try $0.get() } == Array(repeating: ready, count: 6))
        #expect(slow.provider.memory.identityId == "a")
    }

    @Test("who can be answered by another call takes no thread, and is told the same failure")
    func failing() throws {
        let slow = SlowProvider()
        slow.ask()
        slow.waitUntilBegun()
        let told = Mutex<[String]>([])
        for patience in [Patience.none, .full] {
            let joined = #expect(throws: AnsweredByOther.self) {
                try Patience.with(patience) { try slow.refresh(TestCall(mayAnswerLater: true)) }
            }
            joined?.whenDone { outcome in
                if case .failure(let error) = outcome { told.withLock { $0.append("\(type(of: error))") } }
            }
        }
        slow.end(.failure(StoreBusy(retryAfterSeconds: 1)))
        #expect(throws: StoreBusy.self) { try slow.outcomes(1)[0].get() }
        // The leader is answered last.
        #expect(told.withLock { $0 } == ["StoreBusy", "StoreBusy"])
        #expect(slow.refreshes == 1)
    }

    @Test("who listens after the end is told at once")
    func late() {
        let refresh = ProviderRefresh()
        refresh.finish(.success(ready))
        let told = Mutex<CredentialsProviderAnswer?>(nil)
        refresh.whenDone { outcome in told.withLock { $0 = try? outcome.get() } }
        #expect(told.withLock { $0 } == ready)
    }

    @Test("a change waits for the refresh, and sees what it left")
    func change() throws {
        let slow = SlowProvider()
        slow.ask()
        slow.waitUntilBegun()
        #expect(throws: WouldWait.self) { try Patience.with(.none) { try slow.provider.change { _ in } } }
        let seen = Gate<String?>(nil)
        Thread.start(name: "change") {
            let id = try? slow.provider.change { memory in
                memory.dropAll()
                return "changed"
            }
            seen.withLock { $0 = id }
            seen.broadcast()
        }
        slow.end(.success(ready))
        #expect(seen.wait { $0 } == "changed")
        #expect(slow.provider.memory == ProviderMemory(logins: [:]))
    }

    @Test("a thread that must not wait begins no refresh")
    func impatient() {
        let slow = SlowProvider()
        #expect(throws: WouldWait.self) { try Patience.with(.none) { try slow.refresh(TestCall()) } }
        #expect(slow.refreshes == 0)
    }

    @Test("when a submitted token is refused, who joined is asked for the token")
    func refusedToken() throws {
        let slow = SlowProvider()
        try slow.provider.change { $0.ask(.expired, continuationToken: "h.1") }
        slow.ask()
        slow.waitUntilBegun()
        let joined = #expect(throws: AnsweredByOther.self) { try slow.refresh(TestCall(mayAnswerLater: true)) }
        let told = Mutex<CredentialsProviderAnswer?>(nil)
        joined?.whenDone { outcome in told.withLock { $0 = try? outcome.get() as? CredentialsProviderAnswer } }
        slow.end(.failure(StoreBusy(retryAfterSeconds: 1)))
        #expect(throws: StoreBusy.self) { try slow.outcomes(1)[0].get() }
        let question = told.withLock { $0 }
        #expect(question?.continuationToken == "h.1")
    }
}
