import Platform

/// The single thread that writes. It combines waiting writes into one transaction, so that they share one disk sync, and delivers their
/// results after the commit.
///
/// The thread starts with the first write, and ends when the store is closed or released. If the system cannot create the thread, a calling
/// thread does its work, one thread at a time, until no writes are waiting.
final class SQLiteWriter: Sendable {
    private struct State {
        var waiting: [WriteJob] = []
        /// Whether a thread is writing: the writer thread, or temporarily a calling thread.
        var isStarted = false
        var isClosing = false
        var hasEnded = false
    }

    private let state = ConditionLock(State())
    private let connection: UnsafeTransfer<SQLiteConnection>
    private let counters: WriteCounters
    private let memoryLock: ReaderWriterLock?
    private let running: ThreadsInTransaction
    /// The maximum number of writes in one transaction, which limits the waiting time of the first write.
    private let mostInOneCommit = 256

    /// - Parameter running: The threads that run a transaction of the store; the thread that writes is one of them.
    init(_ connection: sending SQLiteConnection, counters: WriteCounters, memoryLock: ReaderWriterLock?, running: ThreadsInTransaction) {
        self.connection = UnsafeTransfer(connection)
        self.running = running
        self.counters = counters
        self.memoryLock = memoryLock
    }

    // MARK: Callers

    /// Runs `job` together with other waiting writes and returns when it is committed.
    ///
    /// - Throws: The error of this job; `StoreError.closed`.
    func run(_ job: WriteJob) throws {
        let mustStart = try state.withLock { state throws(StoreError) in
            if state.isClosing { throw .closed }
            state.waiting.append(job)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if mustStart {
            if !Thread.start(name: "store-writer", heap: 1_200_000, { self.serve() }) { serveHere() }
        } else {
            state.broadcast()
        }
        try job.wait()
    }

    /// Does the writer thread's work on this thread until no writes are waiting. The next write tries to start the thread again.
    private func serveHere() {
        try? running.enter()
        defer { running.leave() }
        while true {
            commitWhatWaits()
            let isDone = state.withLock { state in
                guard state.waiting.isEmpty else { return false }
                state.isStarted = false
                if state.isClosing {
                    connection.value.close()
                    state.hasEnded = true
                }
                return true
            }
            if isDone { return state.broadcast() }
        }
    }

    /// Stops accepting writes. Waiting writes are completed, then the connection is closed.
    func stop() {
        state.withLock { state in
            state.isClosing = true
            if !state.isStarted {
                connection.value.close()
                state.hasEnded = true
            }
        }
        state.broadcast()
    }

    /// Returns when no writes are waiting and the connection is closed.
    func waitUntilStopped() { state.wait { $0.hasEnded ? () : nil } }

    // MARK: The writer thread

    private func serve() {
        try? running.enter()
        defer { running.leave() }
        while state.wait(until: { !$0.waiting.isEmpty ? true : $0.isClosing ? false : nil }) {
            commitWhatWaits()
            ProcessMemory.wipeStack()
        }
        connection.value.checkpoint()
        connection.value.close()
        state.withLock { $0.hasEnded = true }
        state.broadcast()
    }

    private func next() -> WriteJob? { state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() } }

    private func everyoneWaiting() -> [WriteJob] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private typealias Batch = [(job: WriteJob, error: (any Error)?)]

    /// Runs one transaction. Writes that arrive while it is open join it.
    private func commitWhatWaits() {
        memoryLock?.lockForWriting()
        var batch: Batch = []
        do {
            do { try commit(&batch, alone: false) } catch is UndoneAlone {
                connection.value.abandon()
                try commit(&batch, alone: true)
            }
            counters.add(writes: batch.count)
        } catch {
            connection.value.abandon()
            // No write returns a result that was not committed. If the lock could not be acquired, all waiting writes fail.
            if batch.isEmpty { batch = everyoneWaiting().map { ($0, nil) } }
            for index in batch.indices { batch[index].error = error }
        }
        memoryLock?.unlock()
        for (job, error) in batch { job.finish(error) }
    }

    /// Thrown if a write fails after it has changed rows. These changes must be rolled back without those of other writes.
    private struct UndoneAlone: Error {}

    /// Runs the writes in `batch`, if any, and the waiting writes, and commits.
    ///
    /// - Parameter alone: Whether each write runs in its own savepoint. A savepoint copies every page that is modified, so this is done
    ///   only after a write has failed; bodies can run twice.
    /// - Throws: `UndoneAlone` unless `alone`; any error that ends the whole transaction.
    private func commit(_ batch: inout Batch, alone: Bool) throws {
        try connection.value.run("BEGIN IMMEDIATE")
        for index in batch.indices { batch[index].error = try attempt(batch[index].job, alone: alone) }
        while batch.count < mostInOneCommit, let job = next() {
            batch.append((job, nil))
            batch[batch.count - 1].error = try attempt(job, alone: alone)
        }
        try connection.value.run("COMMIT")
        connection.value.epochSeen.settle()
    }

    /// Runs one write.
    ///
    /// - Returns: The error of its body, which rolls back only this write.
    /// - Throws: `UndoneAlone` unless `alone`; any error that ends the whole transaction.
    private func attempt(_ job: WriteJob, alone: Bool) throws -> (any Error)? {
        let connection = connection.value
        if alone { try connection.run("SAVEPOINT one_write") }
        let changes = connection.changes
        var failure: (any Error)?
        let transaction = Transaction(connection)
        do { try job.perform(transaction) } catch { failure = error }
        transaction.end()
        // On a full disk SQLite can roll back the whole transaction itself, even if the body ignores the error.
        if connection.isOutsideTransaction {
            throw connection.lastError ?? failure ?? StoreError.failed(reason: "a write ended its transaction")
        }
        guard alone else {
            if failure != nil, connection.changes != changes { throw UndoneAlone() }
            return failure
        }
        if failure != nil { try connection.run("ROLLBACK TO one_write") }
        try connection.run("RELEASE one_write")
        return failure
    }
}
