import Glibc
import Platform
import Synchronization
import Testing

@Suite("lock without a queue")
struct UnfairLockTests {
    @Test("only one thread at a time has the state")
    func exclusion() {
        let (lock, finished) = (UnfairLock(0), ConditionLock(0))
        for _ in 0..<8 {
            let isStarted = Thread.start(name: "adder") {
                for _ in 0..<10_000 { lock.withLock { $0 += 1 } }
                finished.withLock { $0 += 1 }
                finished.signal()
            }
            #expect(isStarted)
        }
        finished.wait { $0 == 8 ? () : nil }
        #expect(lock.withLock { $0 } == 80_000)
    }

    @Test("an error releases the lock")
    func errors() {
        struct Refused: Error {}
        let lock = UnfairLock(0)
        #expect(throws: Refused.self) { try lock.withLock { _ in throw Refused() } }
        #expect(lock.withLock { $0 } == 0)
    }

    @Test("a running thread acquires the lock before a thread that sleeps")
    func overtaking() {
        /// The threads in the order in which they acquired the lock.
        enum Name { case waiting, running }
        let turns = (0..<50).map { _ in
            let lock = UnfairLock<[Name]>([])
            let (isAtLock, finished) = (Flag(), ConditionLock(false))
            lock.withLock { _ in
                _ = Thread.start(name: "waiting") {
                    isAtLock.value.store(true, ordering: .releasing)
                    lock.withLock { $0.append(.waiting) }
                    finished.withLock { $0 = true }
                    finished.signal()
                }
                while !isAtLock.value.load(ordering: .acquiring) { sched_yield() }
                for _ in 0..<100 { sched_yield() }
            }
            lock.withLock { $0.append(.running) }
            finished.wait { $0 ? () : nil }
            return lock.withLock { $0 }
        }
        // With a queue, the waiting thread would always be the first one.
        #expect(turns.contains([.running, .waiting]))
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }
}
