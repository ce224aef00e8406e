import Platform
import Synchronization

/// Threads that take jobs from one queue, in order. A thread starts when there is a job and none is idle, and ends when it
/// had none for a while; nothing wakes up to look around.
final class WorkerPool: Sendable {
    typealias Job = @Sendable (_ bench: inout Workbench) -> Void

    private struct State {
        /// Jobs from `first` on are still to be done.
        var jobs: [Job?] = []
        var first = 0
        var threads = 0
        var idle = 0

        mutating func takeJob() -> Job? {
            guard first < jobs.count else { return nil }
            let job = jobs[first].take()
            first += 1
            if first == jobs.count || first == 256 {
                jobs.removeFirst(first)
                first = 0
            }
            return job
        }
    }

    private let name: String
    private let limit: Int
    private let priority: Thread.Priority
    private let idleNanoseconds: UInt64
    private let numbers: WorkerNumbers
    private let gate = Gate(State())

    /// - Parameter limit: as many threads at most.
    init(name: String, limit: Int, priority: Thread.Priority = .normal, numbers: WorkerNumbers, idleSeconds: UInt64 = 10) {
        self.name = name
        self.limit = limit
        self.priority = priority
        self.numbers = numbers
        idleNanoseconds = idleSeconds * 1_000_000_000
    }

    func submit(_ job: @escaping Job) {
        let mustStart = gate.withLock { state in
            state.jobs.append(job)
            let waiting = state.jobs.count - state.first
            guard waiting > state.idle, state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        if mustStart {
            Thread.start(name: name, priority: priority) { self.work() }
        } else {
            gate.signal()
        }
    }

    private func work() {
        let number = numbers.take()
        defer { numbers.giveBack(number) }
        var bench = Workbench(number: number)
        while let job = nextJob() {
            job(&bench)
            bench.clear()
        }
    }

    private func nextJob() -> Job? {
        if let job = gate.withLock({ $0.takeJob() }) { return job }
        gate.withLock { $0.idle += 1 }
        let job = gate.wait(deadline: Monotonic.nanoseconds() + idleNanoseconds) { $0.takeJob() }
        return gate.withLock { state in
            state.idle -= 1
            if let job { return job }
            // One may have come between giving up and now.
            if let job = state.takeJob() { return job }
            state.threads -= 1
            return nil
        }
    }
}

/// Small numbers for threads, the lowest free one first.
final class WorkerNumbers: Sendable {
    private let taken = Mutex<Set<Int>>([])

    func take() -> Int {
        taken.withLock { taken in
            let number = (0...).first { !taken.contains($0) }!
            taken.insert(number)
            return number
        }
    }

    func giveBack(_ number: Int) {
        taken.withLock { _ = $0.remove(number) }
    }
}
