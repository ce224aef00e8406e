import Platform

/// The one thread that writes. It gathers the writes that wait into one transaction, so that they share one sync of the disk,
/// and releases their answers after the commit.
///
/// The thread starts at the first write, and ends when the store is closed or let go. Where the system refuses it, whoever writes does its
/// work, one at a time, until nothing waits any more.
final class SQLiteWriter: Sendable {
    private struct State {
        var waiting: [WriteJob] = []
        /// Whether some thread writes: the one that is there for it, or for now one that has something to write.
        var isStarted = false
        var isClosing = false
        var hasEnded = false
    }

    private let state = Gate(State())
    private let connection: Owned<SQLiteConnection>
    private let counters: WriteCounters
    private let memoryLock: ReaderWriterLock?
    /// How many writes may share one transaction: bounds how long the first of them waits.
    private let mostInOneCommit = 256

    init(_ connection: SQLiteConnection, counters: WriteCounters, memoryLock: ReaderWriterLock?) {
        self.connection = Owned(connection)
        self.counters = counters
        self.memoryLock = memoryLock
    }

    // MARK: Whoever writes

    /// Runs `job`, together with others that wait, and returns when it is committed.
    ///
    /// - Throws: what made this job fail; `StoreError.closed`.
    func run(_ job: WriteJob) throws {
        let mustStart = try state.withLock { state throws(StoreError) in
            if state.isClosing { throw .closed }
            state.waiting.append(job)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if mustStart {
            if !Thread.start(name: "store-writer", { self.serve() }) { serveHere() }
        } else {
            state.broadcast()
        }
        try job.wait()
    }

    /// Does the writer thread's work on this one until nothing waits; whoever comes then tries to start the thread again.
    private func serveHere() {
        let outer = try? Nesting.enter(self)
        defer { Nesting.leave(to: outer ?? nil) }
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

    /// Takes no more writes. Those that wait are finished, then the connection is closed.
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

    /// Returns when nothing waits any more and the connection is closed.
    func waitUntilStopped() { state.wait { $0.hasEnded ? () : nil } }

    // MARK: The writer thread

    private func serve() {
        let outer = try? Nesting.enter(self)
        defer { Nesting.leave(to: outer ?? nil) }
        while state.wait(until: { !$0.waiting.isEmpty ? true : $0.isClosing ? false : nil }) { commitWhatWaits() }
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

    /// One transaction. Whoever comes while it is open joins it.
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
            // Nobody gets an answer that rests on what was not committed; who came for a lock has waited long enough.
            if batch.isEmpty { batch = everyoneWaiting().map { ($0, nil) } }
            for index in batch.indices { batch[index].error = error }
        }
        memoryLock?.unlock()
        for (job, error) in batch { job.finish(error) }
    }

    /// Thrown when a write has failed after it had changed something, which must be undone without the others' changes.
    private struct UndoneAlone: Error {}

    /// Runs those in `batch`, if any, and those that wait, and commits.
    ///
    /// - Parameter alone: whether each write is a savepoint. It costs a copy of every page that is touched, so it is done only
    ///   when a write turns out to need it; bodies may run twice.
    /// - Throws: `UndoneAlone` unless `alone`; what ends the whole transaction.
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
    /// - Returns: the error of its body, which undoes this write alone.
    /// - Throws: `UndoneAlone` unless `alone`; what ends the whole transaction.
    private func attempt(_ job: WriteJob, alone: Bool) throws -> (any Error)? {
        let connection = connection.value
        if alone { try connection.run("SAVEPOINT one_write") }
        let changes = connection.changes
        var failure: (any Error)?
        let transaction = Transaction(connection)
        do { try job.perform(transaction) } catch { failure = error }
        transaction.end()
        // On a full disk SQLite may undo everything by itself, whatever the body makes of the error.
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
