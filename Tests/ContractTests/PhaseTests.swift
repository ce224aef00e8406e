import Contract
import JSON
import Platform
import Storage
import Synchronization
import Testing

/// A call whose cancellation a test controls.
private final class TestCall: CallContext {
    private let cancelled = Atomic(false)
    let storeAccess: StoreAccess
    let trace: String? = "t"

    init(_ storeAccess: StoreAccess = .patient) { self.storeAccess = storeAccess }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
    var isPublicCaller: Bool { true }
    func cancel() { cancelled.store(true, ordering: .releasing) }
    func progress(_ value: JSONValue) {}
}

/// An event that a test ends, and counts of what happened to it.
private final class TestEvent: Sendable {
    private let waiting = ConditionLock<[@Sendable () -> Void]>([])
    let givenUp = Atomic(0)

    var awaited: AwaitedEvent {
        AwaitedEvent(giveUp: { self.givenUp.add(1, ordering: .relaxed) }) { resume in
            self.waiting.withLock { $0.append(resume) }
            self.waiting.broadcast()
        }
    }

    /// Returns when a call waits.
    func isAwaited() { waiting.wait { $0.isEmpty ? nil : () } }
    func end() { for resume in waiting.withLock({ $0 }) { resume() } }
}

private struct Refused: Error, Equatable {}

@Suite("a handler in phases, on a thread that may wait")
struct PhaseTests {
    @Test("each rest runs once, in order, with the store access of its wait")
    func rests() throws {
        let runs = Mutex<[String]>([])
        let over = AwaitedEvent { $0() }
        let first = Phase<Int>.next(.store) { call in
            runs.withLock { $0.append("store \(call.storeAccess.isPatient) \(call.trace ?? "") \(call.isPublicCaller)") }
            return .next(.write) { call in
                runs.withLock { $0.append("write \(call.storeAccess.decidesInWrite)") }
                return .next(.network) { call in
                    runs.withLock { $0.append("network \(call.storeAccess.isPatient)") }
                    return .next(.event(over)) { call in
                        runs.withLock { $0.append("event \(call.storeAccess.isPatient)") }
                        return .done(7)
                    }
                }
            }
        }
        #expect(try first.value(for: TestCall(StoreAccess(.refused))) == 7)
        #expect(runs.withLock { $0 } == ["store true t true", "write true", "network true", "event true"])
    }

    @Test("then continues with the value, before and after a wait")
    func then() throws {
        let call = TestCall()
        let waits = Mutex(0)
        let half: @Sendable (Int, any CallContext) throws -> Phase<String> = { value, _ in
            .next(.store) { _ in
                waits.withLock { $0 += 1 }
                return .done("\(value)")
            }
        }
        #expect(try Phase<Int>.done(1).then(call, half).value(for: call) == "1")
        #expect(try Phase<Int>.next(.network) { _ in .done(2) }.then(call, half).value(for: call) == "2")
        #expect(waits.withLock { $0 } == 2)
    }

    @Test("an error of a rest ends the handler, and later rests do not run")
    func failure() {
        let call = TestCall()
        let isReached = Mutex(false)
        #expect(throws: Refused()) {
            try Phase<Int>.next(.store) { _ in throw Refused() }
                .then(call) { value, _ in
                    isReached.withLock { $0 = true }
                    return .done(value)
                }.value(for: call)
        }
        #expect(!isReached.withLock { $0 })
    }

    @Test("a canceled wait gives up its event once, and the rest does not run")
    func cancellation() throws {
        let (call, event) = (TestCall(), TestEvent())
        let runs = Atomic(0)
        let outcome = ConditionLock<Result<Int, any Error>?>(nil)
        let phase = Phase<Int>.next(.event(event.awaited)) { _ in .done(runs.add(1, ordering: .relaxed).newValue) }
        #expect(
            Thread.start(name: "waits") {
                let found = Result { try phase.value(for: call) }
                outcome.withLock { $0 = found }
                outcome.broadcast()
            })
        event.isAwaited()
        call.cancel()
        let found = outcome.wait { $0 }
        #expect(throws: Cancelled.self) { try found.get() }
        event.end()
        #expect(event.givenUp.load(ordering: .relaxed) == 1)
        #expect(runs.load(ordering: .relaxed) == 0)
    }

    @Test("an event that ends after the cancellation was noticed too late still ends the call as canceled")
    func lateCancellation() {
        let call = TestCall()
        let event = AwaitedEvent { resume in
            call.cancel()
            resume()
        }
        #expect(throws: Cancelled.self) { try Phase<Int>.next(.event(event)) { _ in .done(1) }.value(for: call) }
    }
}
