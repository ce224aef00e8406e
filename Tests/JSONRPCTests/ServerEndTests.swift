import Platform
import Synchronization
import Testing

@testable import JSONRPC

@Suite("waiting for the end of a server")
struct ServerEndTests {
    /// Synchronizes two threads: in each turn, one waits while the other completes the turn.
    private final class Turns: Sendable {
        let end = ServerEnd { _ in }
        let begun = Atomic(0)
        let done = Atomic(0)

        func await(_ turn: Int) { while begun.load(ordering: .acquiring) < turn {} }
    }

    @Test("a waiting thread is woken by the last response, whatever the timing")
    func noCallIsMissed() {
        let turns = Turns()
        let count = 20_000
        _ = Thread.start(name: "answers") { [turns] in
            for turn in 1...count {
                turns.await(turn)
                // The delay grows with each turn, so that the signal arrives at every stage of the other thread's
                // wait.
                for _ in 0..<(turn % 400) { _ = turns.done.load(ordering: .relaxed) }
                turns.done.store(turn, ordering: .sequentiallyConsistent)
                turns.end.stir()
            }
        }
        var missed = 0
        for turn in 1...count where missed == 0 {
            turns.begun.store(turn, ordering: .releasing)
            let started = Monotonic.nanoseconds()
            let isDone = turns.end.wait(deadline: started + 5_000_000_000) { turns.done.load(ordering: .sequentiallyConsistent) >= turn }
            if !isDone || Monotonic.nanoseconds() - started > 4_900_000_000 { missed = turn }
        }
        #expect(missed == 0)
        turns.begun.store(count, ordering: .releasing)
    }
}
