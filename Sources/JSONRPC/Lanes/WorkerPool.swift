import Platform
import Synchronization

/// Threads that take jobs from one queue, in order. A thread starts if a job is queued and no thread is idle. It exits after an idle
/// period. No thread polls.
final class WorkerPool: Sendable {
    typealias Job = @Sendable (_ bench: inout WorkerState) -> Void

    /// A job, and the fallback for the case that no thread is available for it.
    struct Order {
        let job: Job
        let refuse: @Sendable () -> Void
    }

    private struct State {
        /// The jobs from index `first` on are pending.
        var jobs: [Order?] = []
        var first = 0
        var threads = 0
        var idle = 0
        /// The threads that wait for others in the middle of a job. They do not count towards the limit.
        var parked = 0
        /// Whether idle threads exit.
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

    /// About what the thread of a call uses.
    private static let heap = 1_000_000

    private let name: String
    private let limit: Int
    private let priority: Thread.Priority
    private let idleNanoseconds: UInt64
    private let numbers: WorkerNumbers
    private let gate = ConditionLock(State())

    /// - Parameter limit: The maximum number of threads.
    init(name: String, limit: Int, priority: Thread.Priority = .normal, numbers: WorkerNumbers, idleSeconds: UInt64 = 10) {
        self.name = name
        self.limit = limit
        self.priority = priority
        self.numbers = numbers
        idleNanoseconds = idleSeconds * 1_000_000_000
    }

    /// Queues a job. If the system cannot create a thread, the existing threads run the job. If the pool has no thread, the job is
    /// refused before this method returns.
    func submit(_ order: Order) {
        let (mustStart, isClosed) = gate.withLock { state in
            state.jobs.append(order)
            let waiting = state.jobs.count - state.first
            guard waiting > state.idle, state.threads - state.parked < limit else { return (false, state.isClosed) }
            state.threads += 1
            return (true, state.isClosed)
        }
        if mustStart {
            if !Thread.start(name: name, priority: priority, heap: Self.heap, { self.work() }) { goWithout() }
        } else {
            wake(isClosed: isClosed)
        }
    }

    /// Queues a job if the pool has at least one thread. Returns whether it was queued.
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

    /// Raises the limit by one thread while a call of this process waits for the host, or lowers it again. Jobs that wait for a thread get
    /// it.
    func lend(_ begins: Bool) {
        let mustStart = gate.withLock { state in
            state.parked += begins ? 1 : -1
            guard begins, state.jobs.count - state.first > state.idle, state.threads - state.parked < limit else { return false }
            state.threads += 1
            return true
        }
        if mustStart, !Thread.start(name: name, priority: priority, heap: Self.heap, { self.work() }) { goWithout() }
    }

    private func wake(isClosed: Bool) {
        // After `close`, some waiters are not workers, so `signal` could wake the wrong one.
        if isClosed { gate.broadcast() } else { gate.signal() }
    }

    /// Handles a failed thread start. If no other thread exists, all queued jobs are refused, because none of them could run.
    private func goWithout() {
        let left = gate.withLock { state in
            state.threads -= 1
            var left: [Order] = []
            while state.threads == 0, let order = state.takeOrder() { left.append(order) }
            return left
        }
        // Wakes threads that wait for the last thread to exit, and idle threads that can take the job.
        gate.broadcast()
        for order in left { order.refuse() }
    }

    /// Lets threads exit as soon as they are idle. Jobs that are submitted later still run.
    func close() {
        gate.withLock { $0.isClosed = true }
        gate.broadcast()
    }

    /// Waits, after `close`, until all threads have exited.
    ///
    /// - Parameter deadline: A time on the clock of `Monotonic.nanoseconds()`.
    /// - Returns: Whether all threads exited before the deadline.
    func wait(deadline: UInt64) -> Bool { gate.wait(deadline: deadline) { $0.threads == 0 ? () : nil } != nil }

    private func work() {
        let number = numbers.take()
        defer { numbers.giveBack(number) }
        var bench = WorkerState(number: number)
        while let job = nextJob() {
            job(&bench)
            bench.clear()
        }
        if gate.withLock({ $0.isClosed }) { gate.broadcast() }
    }

    /// The maximum number of parked threads. Further threads that wait count towards the limit.
    private static let mostParked = 256

    /// Excludes the current thread from the limit while it waits for others. Starts another thread if jobs are queued.
    ///
    /// - Returns: Whether `unpark` must be called after the wait.
    func park() -> Bool {
        let (isParked, mustStart) = gate.withLock { state in
            guard state.parked < Self.mostParked else { return (false, false) }
            state.parked += 1
            let mustStart = state.jobs.count - state.first > state.idle && state.threads - state.parked < limit
            if mustStart { state.threads += 1 }
            return (true, mustStart)
        }
        if mustStart, !Thread.start(name: name, priority: priority, heap: Self.heap, { self.work() }) { gate.withLock { $0.threads -= 1 } }
        return isParked
    }

    /// Includes the current thread in the limit again. If there are more threads than that, some exit after their jobs.
    func unpark() { gate.withLock { $0.parked -= 1 } }

    private func nextJob() -> Job? {
        let isSurplus = gate.withLock { state in
            guard state.threads - state.parked > limit else { return false }
            state.threads -= 1
            return true
        }
        if isSurplus { return nil }
        if let job = gate.withLock({ $0.takeJob() }) { return job }
        gate.withLock { $0.idle += 1 }
        let job = gate.wait(deadline: Monotonic.nanoseconds() + idleNanoseconds) { state -> Job?? in
            if let job = state.takeJob() { return job }
            return state.isClosed ? .some(nil) : nil
        }
        return gate.withLock { state in
            state.idle -= 1
            if let job = job ?? nil { return job }
            // A job may have arrived between the timeout and now.
            if let job = state.takeJob() { return job }
            state.threads -= 1
            return nil
        }
    }
}

/// Assigns small numbers to threads, the lowest free one first.
final class WorkerNumbers: Sendable {
    /// Whether each number is taken.
    private let taken = Mutex<[Bool]>([])

    func take() -> Int {
        taken.withLock { taken in
            if let free = taken.firstIndex(of: false) {
                taken[free] = true
                return free
            }
            taken.append(true)
            return taken.count - 1
        }
    }

    func giveBack(_ number: Int) {
        taken.withLock { $0[number] = false }
    }
}
