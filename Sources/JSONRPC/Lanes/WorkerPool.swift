import Platform
import Synchronization

/// Threads that take jobs from one queue, in order. A thread starts when there is a job and none is idle, and ends when it
/// had none for a while; nothing wakes up to look around.
final class WorkerPool: Sendable {
    typealias Job = @Sendable (_ bench: inout Workbench) -> Void

    /// A job, and what is done instead if there is no thread for it and none can be had.
    struct Order {
        let job: Job
        let refuse: @Sendable () -> Void
    }

    private struct State {
        /// Jobs from `first` on are still to be done.
        var jobs: [Order?] = []
        var first = 0
        var threads = 0
        var idle = 0
        /// Threads end when they have nothing to do.
        var isClosed = false

        mutating func takeJob() -> Job? { takeOrder()?.job }

        mutating func takeOrder() -> Order? {
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

    /// Queues a job. Where the system refuses a thread, those that exist do it; if there are none, it is refused before this returns.
    func submit(_ order: Order) {
        let (mustStart, isClosed) = gate.withLock { state in
            state.jobs.append(order)
            let waiting = state.jobs.count - state.first
            guard waiting > state.idle, state.threads < limit else { return (false, state.isClosed) }
            state.threads += 1
            return (true, state.isClosed)
        }
        if mustStart {
            if !Thread.start(name: name, priority: priority, { self.work() }) { goWithout() }
        } else {
            wake(isClosed: isClosed)
        }
    }

    /// Queues a job if there is a thread that will do it.
    func submitIfStaffed(_ order: Order) -> Bool {
        let isClosed: Bool? = gate.withLock { state in
            guard state.threads > 0 else { return nil }
            state.jobs.append(order)
            return state.isClosed
        }
        guard let isClosed else { return false }
        wake(isClosed: isClosed)
        return true
    }

    private func wake(isClosed: Bool) {
        // Once it is closed, not all who wait are workers any more.
        if isClosed { gate.broadcast() } else { gate.signal() }
    }

    /// The thread that was counted does not exist. Without any other nobody would ever do what is queued, so all of it is refused.
    private func goWithout() {
        let left = gate.withLock { state in
            state.threads -= 1
            var left: [Order] = []
            while state.threads == 0, let order = state.takeOrder() { left.append(order) }
            return left
        }
        // Whoever waits for the last thread, or for an idle one to take the job.
        gate.broadcast()
        for order in left { order.refuse() }
    }

    /// Lets threads end as soon as they have nothing to do. What is submitted later is done all the same.
    func close() {
        gate.withLock { $0.isClosed = true }
        gate.broadcast()
    }

    /// Waits until no thread is left, after `close`.
    ///
    /// - Parameter deadline: a moment of `Monotonic.nanoseconds()`.
    /// - Returns: whether that was so before the deadline.
    func wait(deadline: UInt64) -> Bool { gate.wait(deadline: deadline) { $0.threads == 0 ? () : nil } != nil }

    private func work() {
        let number = numbers.take()
        defer { numbers.giveBack(number) }
        var bench = Workbench(number: number)
        while let job = nextJob() {
            job(&bench)
            bench.clear()
        }
        if gate.withLock({ $0.isClosed }) { gate.broadcast() }
    }

    private func nextJob() -> Job? {
        if let job = gate.withLock({ $0.takeJob() }) { return job }
        gate.withLock { $0.idle += 1 }
        let job = gate.wait(deadline: Monotonic.nanoseconds() + idleNanoseconds) { state -> Job?? in
            if let job = state.takeJob() { return job }
            return state.isClosed ? .some(nil) : nil
        }
        return gate.withLock { state in
            state.idle -= 1
            if let job = job ?? nil { return job }
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
