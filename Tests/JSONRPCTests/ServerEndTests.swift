import Platform
import Synchronization
import Testing

@testable import JSONRPC

@Suite("how a server comes to its end")
struct ServerEndTests {
    /// Two threads that meet at every turn: one waits for what the other does at that very moment.
    private final class Turns: Sendable {
        let end = ServerEnd { _ in }
        let begun = Atomic(0)
        let done = Atomic(0)

        func await(_ turn: Int) { while begun.load(ordering: .acquiring) < turn {} }
    }

    @Test("whoever waits for the last answer hears of it, at whatever moment it is sent")
    func noCallIsMissed() {
        let turns = Turns()
        let count = 20_000
        _ = Thread.start(name: "answers") { [turns] in
            for turn in 1...count {
                turns.await(turn)
                // A little later each time, so that it falls on every moment of the other's way to sleep.
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
