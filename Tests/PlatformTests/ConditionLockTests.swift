import Platform
import Testing

@Suite("threads and gates")
struct GateTests {
    @Test("a waiting thread receives the value that another thread set")
    func handover() {
        let gate = ConditionLock<Int?>(nil)
        _ = Thread.start(name: "giver") {
            gate.withLock { $0 = 7 }
            gate.signal()
        }
        #expect(gate.wait { $0 } == 7)
    }

    @Test("a wait ends at its deadline")
    func deadline() {
        let gate = ConditionLock<Int?>(nil)
        #expect(gate.wait(deadline: Monotonic.nanoseconds() + 2_000_000) { $0 } == nil)
    }

    @Test("concurrent increments are all counted")
    func counting() {
        let gate = ConditionLock((count: 0, done: 0))
        for _ in 0..<8 {
            _ = Thread.start(name: "counter", priority: .low) {
                for _ in 0..<1_000 { gate.withLock { $0.count += 1 } }
                gate.withLock { $0.done += 1 }
                gate.broadcast()
            }
        }
        #expect(gate.wait { $0.done == 8 ? $0.count : nil } == 8_000)
    }
}
