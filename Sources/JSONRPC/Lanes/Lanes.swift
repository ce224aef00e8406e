import Glibc
import Platform

/// The thread pools of the lanes.
struct Lanes: Sendable {
    private let compute: WorkerPool
    private let store: WorkerPool
    private let hash: WorkerPool
    private let network: WorkerPool
    /// The maximum number of compute workers.
    let computeWorkers: Int

    /// - Parameter sequential: Whether a single compute worker runs all calls.
    init(sequential: Bool, numbers: WorkerNumbers) {
        let cores = Self.cores
        computeWorkers = sequential ? 1 : cores
        compute = WorkerPool(name: "compute", limit: computeWorkers, numbers: numbers)
        store = WorkerPool(name: "store", limit: 32, numbers: numbers)
        hash = WorkerPool(name: "hash", limit: cores, priority: .low, numbers: numbers)
        network = WorkerPool(name: "network", limit: 64, numbers: numbers)
    }

    /// Queues a job on a lane.
    ///
    /// - Parameter refuse: Runs, before this method returns or later, if no lane has a thread and the system cannot create one.
    func submit(to lane: Lane, _ job: @escaping WorkerPool.Job, orElse refuse: @escaping @Sendable () -> Void) {
        let own = pool(of: lane)
        // Fall back to threads of another lane. The job runs later there, and it may delay the calls of that lane.
        let others = pools.filter { $0 !== own }
        own.submit(
            .init(job: job) {
                let order = WorkerPool.Order(job: job, refuse: refuse)
                if !others.contains(where: { $0.submitIfStaffed(order) }) { refuse() }
            })
    }

    /// Runs `body`, which waits for others, on a thread of `lane`. The lane can start another thread in the meantime.
    func blocking<R>(_ lane: Lane, _ body: () throws -> R) rethrows -> R {
        guard lane != .compute else { return try body() }
        let pool = pool(of: lane)
        let isParked = pool.park()
        defer { if isParked { pool.unpark() } }
        return try body()
    }

    private func pool(of lane: Lane) -> WorkerPool {
        switch lane {
        case .compute: compute
        // Waits for users only begin here; the wait itself uses no thread.
        case .store, .wait: store
        case .hash: hash
        case .network: network
        }
    }

    /// Adds a thread to each pool while a call waits for the host, so that the host can call methods before it answers. A single compute
    /// worker stays alone, because it keeps the order of the calls.
    func lend(_ begins: Bool) {
        for pool in [store, hash, network] { pool.lend(begins) }
    }

    /// Lets the threads exit as soon as they are idle.
    func close() {
        for pool in pools { pool.close() }
    }

    /// Waits, after `close`, until all threads have exited.
    ///
    /// - Parameter deadline: A time on the clock of `Monotonic.nanoseconds()`.
    /// - Returns: Whether all threads exited before the deadline.
    func wait(deadline: UInt64) -> Bool { pools.allSatisfy { $0.wait(deadline: deadline) } }

    private var pools: [WorkerPool] { [compute, store, hash, network] }

    /// The number of cores that this process may use.
    private static var cores: Int {
        typealias Function = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32
        var set = [UInt8](repeating: 0, count: 128)
        // `sched_getaffinity` is a GNU extension that Swift's C library module does not export.
        guard let function = dlsym(nil, "sched_getaffinity"), unsafeBitCast(function, to: Function.self)(0, set.count, &set) == 0 else {
            return max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        }
        return max(1, set.reduce(0) { $0 + $1.nonzeroBitCount })
    }
}
