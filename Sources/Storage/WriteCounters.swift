import Synchronization

/// The numbers of commits and writes since the store was opened. Several writes can share one commit.
final class WriteCounters: Sendable {
    private let commits = Atomic<Int64>(0)
    private let writes = Atomic<Int64>(0)

    func add(writes count: Int) {
        commits.wrappingAdd(1, ordering: .relaxed)
        writes.wrappingAdd(Int64(count), ordering: .relaxed)
    }

    var current: (commits: Int64, writes: Int64) { (commits.load(ordering: .relaxed), writes.load(ordering: .relaxed)) }
}
