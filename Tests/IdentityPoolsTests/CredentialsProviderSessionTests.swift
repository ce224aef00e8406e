import Contract
import JSON
import Platform
import Storage
import Synchronization
import Testing

@testable import IdentityPools

/// A call.
private struct TestCall: CallContext {
    var trace: String? { nil }
    var isCancelled: Bool { false }
    var isPublicCaller: Bool { false }
    var storeAccess = StoreAccess.patient
    func progress(_ value: JSONValue) {}
}

private let ready = CredentialsProviderAnswer.ready(.init(identityId: "a"))

private struct Unexpected: Error {}

/// A provider whose refreshes complete when the test calls `end`.
private final class SlowProvider: Sendable {
    let provider = CredentialsProviderSession(
        handle: "h",
        settings: .init(
            key: .init(poolId: "p", key: "k"), asksCaller: false, flow: .enhanced, roleArn: nil, customRoleArn: nil,
            refreshAheadSeconds: 600),
        memory: CachedCredentials(logins: [:]))
    private let mayEnd = ConditionLock<Result<CredentialsProviderAnswer, StoreBusy>?>(nil)
    private let begun = ConditionLock(0)
    private let ended = ConditionLock<[Result<CredentialsProviderAnswer, any Error>]>([])

    var refreshes: Int { begun.withLock { $0 } }

    /// Requests credentials on a separate thread.
    func ask(_ call: TestCall = TestCall()) {
        _ = Thread.start(name: "ask") {
            let outcome = Result { try self.refresh(call) }
            self.ended.withLock { $0.append(outcome) }
            self.ended.broadcast()
        }
    }

    func refresh(_ call: TestCall) throws -> CredentialsProviderAnswer {
        switch try outcome(call) {
        case .answer(let answer): return answer
        case .joins(let refresh): return try refresh.outcome.get()
        case .mustWait: throw Unexpected()
        }
    }

    /// Joins the refresh that is in progress, and returns it.
    func join(_ call: TestCall = TestCall()) throws -> ProviderRefresh {
        guard case .joins(let refresh) = try outcome(call) else { throw Unexpected() }
        return refresh
    }

    func outcome(_ call: TestCall) throws -> CredentialsProviderSession.Outcome {
        try provider.refresh(call, held: { _ in nil }) { memory, _ in
            self.begun.withLock { $0 += 1 }
            self.begun.broadcast()
            memory.identityId = "a"
            return try self.mayEnd.wait { $0 }.get()
        }
    }

    func waitUntilBegun(_ count: Int = 1) { begun.wait { $0 >= count ? () : nil } }

    func end(_ outcome: Result<CredentialsProviderAnswer, StoreBusy>) {
        mayEnd.withLock { $0 = outcome }
        mayEnd.broadcast()
    }

    func outcomes(_ count: Int) -> [Result<CredentialsProviderAnswer, any Error>] { ended.wait { $0.count == count ? $0 : nil } }
}

@Suite("concurrent refreshes of a credentials provider")
struct OpenProviderTests {
    @Test("calls wait for the running refresh and share its result")
    func waiting() throws {
        let slow = SlowProvider()
        slow.ask()
        slow.waitUntilBegun()
        for _ in 0..<5 { slow.ask() }
        slow.end(.success(ready))
        #expect(try slow.outcomes(6).map { try $0.get() } == Array(repeating: ready, count: 6))
        #expect(slow.provider.memory.identityId == "a")
    }

    @Test("deferred calls occupy no thread and receive the same failure")
    func failing() throws {
        let slow = SlowProvider()
        slow.ask()
        slow.waitUntilBegun()
        let told = Mutex<[String]>([])
        for access in [StoreAccess(.refused), .patient] {
            try slow.join(TestCall(storeAccess: access)).whenDone { outcome in
                if case .failure(let error) = outcome { told.withLock { $0.append("\(type(of: error))") } }
            }
        }
        slow.end(.failure(StoreBusy(retryAfterSeconds: 1)))
        #expect(throws: StoreBusy.self) { try slow.outcomes(1)[0].get() }
        // The call that ran the refresh gets its response last.
        #expect(told.withLock { $0 } == ["StoreBusy", "StoreBusy"])
        #expect(slow.refreshes == 1)
    }

    @Test("a listener added after the end is called immediately")
    func late() {
        let refresh = ProviderRefresh()
        refresh.finish(.success(ready))
        let told = Mutex<CredentialsProviderAnswer?>(nil)
        refresh.whenDone { outcome in told.withLock { $0 = try? outcome.get() } }
        #expect(told.withLock { $0 } == ready)
    }

    @Test("a change fails the waiting calls immediately, and the result of the superseded refresh is discarded")
    func change() throws {
        let slow = SlowProvider()
        slow.ask()
        slow.waitUntilBegun()
        let joined = try slow.join()
        let told = Mutex<String?>(nil)
        joined.whenDone { outcome in
            if case .failure(let error) = outcome { told.withLock { $0 = "\(type(of: error))" } }
        }
        try slow.provider.change { $0.setLogins(["login.shop": "alice"]) }
        #expect(told.withLock { $0 } == "ProviderOvertaken")
        let changed = CachedCredentials(logins: ["login.shop": "alice"])
        #expect(slow.provider.memory == changed)
        // A request after the change starts a new refresh.
        slow.ask()
        slow.waitUntilBegun(2)
        slow.end(.success(ready))
        let outcomes = slow.outcomes(2)
        #expect(outcomes.compactMap { try? $0.get() } == [ready])
        #expect(outcomes.contains { if case .failure(let error) = $0 { error is ProviderOvertaken } else { false } })
        #expect(slow.provider.memory.identityId == "a")
    }

    @Test("refreshes and searches begun before a change are no longer current")
    func current() throws {
        let slow = SlowProvider()
        var stale: CredentialsProviderSession.Turn?
        #expect(throws: ProviderOvertaken.self) {
            try slow.provider.search { memory, turn in
                try turn.requireCurrent()
                try slow.provider.change { $0.dropAll() }
                memory.identityId = "a"
                stale = turn
            }
        }
        let refusal = #expect(throws: ProviderOvertaken.self) { try stale?.requireCurrent() }
        #expect(refusal?.provider == "h")
        #expect(slow.provider.memory.identityId == nil)
        try slow.provider.search { memory, turn in
            memory.identityId = "b"
            try turn.requireCurrent()
        }
        #expect(slow.provider.memory.identityId == "b")
    }

    @Test("changes are executed one after another")
    func changes() throws {
        let slow = SlowProvider()
        let begun = ConditionLock(false)
        let mayEnd = ConditionLock(false)
        let order = ConditionLock<[Int]>([])
        _ = Thread.start(name: "first") {
            try? slow.provider.change { _ in
                begun.withLock { $0 = true }
                begun.broadcast()
                mayEnd.wait { $0 ? () : nil }
                order.withLock { $0.append(1) }
            }
        }
        begun.wait { $0 ? () : nil }
        _ = Thread.start(name: "second") {
            try? slow.provider.change { _ in order.withLock { $0.append(2) } }
            order.broadcast()
        }
        mayEnd.withLock { $0 = true }
        mayEnd.broadcast()
        #expect(order.wait { $0.count == 2 ? $0 : nil } == [1, 2])
    }

    @Test("a thread that must not wait starts no refresh")
    func impatient() throws {
        let slow = SlowProvider()
        guard case .mustWait = try slow.outcome(TestCall(storeAccess: StoreAccess(.refused))) else { throw Unexpected() }
        #expect(slow.refreshes == 0)
    }

    @Test("if a submitted token is rejected, calls that joined receive the request for a token")
    func refusedToken() throws {
        let slow = SlowProvider()
        try slow.provider.change { $0.ask(.expired, continuationToken: "h.1") }
        slow.ask()
        slow.waitUntilBegun()
        let joined = try slow.join()
        let told = Mutex<CredentialsProviderAnswer?>(nil)
        joined.whenDone { outcome in told.withLock { $0 = try? outcome.get() } }
        slow.end(.failure(StoreBusy(retryAfterSeconds: 1)))
        #expect(throws: StoreBusy.self) { try slow.outcomes(1)[0].get() }
        let question = told.withLock { $0 }
        guard case .tokenRequired(let awaited) = question else {
            Issue.record("expected a required token, found \(String(describing: question))")
            return
        }
        #expect(awaited.continuationToken == "h.1")
    }
}
