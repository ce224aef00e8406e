import Glibc
import Platform

/// The pools of threads behind the lanes.
struct Lanes: Sendable {
    private let compute: WorkerPool
    private let store: WorkerPool
    private let hash: WorkerPool
    private let network: WorkerPool
    /// How many compute workers there can be.
    let computeWorkers: Int

    /// - Parameter sequential: one compute worker, which then does everything.
    init(sequential: Bool, numbers: WorkerNumbers) {
        let cores = Self.cores
        computeWorkers = sequential ? 1 : cores
        compute = WorkerPool(name: "compute", limit: computeWorkers, numbers: numbers)
        store = WorkerPool(name: "store", limit: 32, numbers: numbers)
        hash = WorkerPool(name: "hash", limit: cores, priority: .low, numbers: numbers)
        network = WorkerPool(name: "network", limit: 64, numbers: numbers)
    }

    /// - Parameter refuse: runs, before this returns or later, if no lane has a thread and the system gives none.
    func submit(to lane: Lane, _ job: @escaping WorkerPool.Job, orElse refuse: @escaping @Sendable () -> Void) {
        let own = pool(of: lane)
        // A thread of another lane does it too: later, and what waits there waits for it, but it is done.
        let others = pools.filter { $0 !== own }
        own.submit(
            .init(job: job) {
                let order = WorkerPool.Order(job: job, refuse: refuse)
                if !others.contains(where: { $0.submitIfStaffed(order) }) { refuse() }
            })
    }

    private func pool(of lane: Lane) -> WorkerPool {
        switch lane {
        case .compute: compute
        // What waits for people only begins here; waiting takes no thread.
        case .store, .wait: store
        case .hash: hash
        case .network: network
        }
    }

    /// Lets the threads end as soon as they have nothing to do.
    func close() {
        for pool in pools { pool.close() }
    }

    /// Waits until no thread is left, after `close`.
    ///
    /// - Parameter deadline: a moment of `Monotonic.nanoseconds()`.
    /// - Returns: whether that was so before the deadline.
    func wait(deadline: UInt64) -> Bool { pools.allSatisfy { $0.wait(deadline: deadline) } }

    private var pools: [WorkerPool] { [compute, store, hash, network] }

    /// The cores that this process may use.
    private static var cores: Int {
        typealias Function = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32
        var set = [UInt8](repeating: 0, count: 128)
        // A GNU function, hidden from Swift's view of the C library.
        guard let function = dlsym(nil, "sched_getaffinity"), unsafeBitCast(function, to: Function.self)(0, set.count, &set) == 0 else {
            return max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        }
        return max(1, set.reduce(0) { $0 + $1.nonzeroBitCount })
    }
}
