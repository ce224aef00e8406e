import Synchronization

/// The connections that read. One that was just used is taken first: its pages and statements are warm.
final class SQLiteReaders: Sendable {
    private struct State: ~Copyable {
        var idle: [Owned<SQLiteConnection>] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let open: @Sendable (_ patient: Bool) throws -> Owned<SQLiteConnection>
    private let memoryLock: ReaderWriterLock?
    /// How many stay open while nobody reads: as many as there are threads that read, since each one opened anew reads the
    /// schema and prepares its statements again.
    private let mostIdle = 40

    /// - Parameters:
    ///   - memoryLock: held while a transaction is open.
    ///   - open: opens one more; it may be told not to wait.
    init(memoryLock: ReaderWriterLock?, open: @escaping @Sendable (_ patient: Bool) throws -> Owned<SQLiteConnection>) {
        self.memoryLock = memoryLock
        self.open = open
    }

    /// Runs `body` in one transaction of one connection; inside `SharedReads` in the one that its earlier reads began.
    ///
    /// - Throws: `StoreError.closed`; `WouldWait` if `patient` is false; what `body` throws.
    func read<R>(patient: Bool, _ body: (Transaction) throws -> R) throws -> R {
        if let shared = SharedReads.current { return try shared.read(from: self, patient: patient, body) }
        let view = try begin(patient: patient)
        do {
            let result = try view.run(body)
            try view.commit()
            return result
        } catch {
            view.abandon()
            throw error
        }
    }

    /// Begins a transaction.
    ///
    /// - Throws: `StoreError.closed`; `WouldWait` if `patient` is false.
    func begin(patient: Bool) throws -> SQLiteView {
        if let memoryLock {
            guard patient ? memoryLock.lockForReading() : memoryLock.tryLockForReading() else { throw WouldWait() }
        }
        do {
            let owned = try take(patient: patient)
            do {
                owned.value.setPatient(patient)
                try owned.value.run("BEGIN")
                return SQLiteView(of: self, owned)
            } catch {
                owned.value.abandon()
                giveBack(owned)
                throw error
            }
        } catch {
            memoryLock?.unlock()
            throw error
        }
    }

    /// Takes back what `begin` gave.
    func end(_ owned: Owned<SQLiteConnection>) {
        // A transaction that cannot be ended goes with its connection.
        if owned.value.isOutsideTransaction { giveBack(owned) }
        memoryLock?.unlock()
    }

    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for owned in idle { owned.value.close() }
    }

    private func take(patient: Bool) throws -> Owned<SQLiteConnection> {
        let idle = try state.withLock { state throws(StoreError) in
            if state.isClosed { throw .closed }
            return state.idle.popLast()
        }
        return try idle ?? open(patient)
    }

    private func giveBack(_ reader: Owned<SQLiteConnection>) {
        let isKept = state.withLock { state in
            guard !state.isClosed, state.idle.count < mostIdle else { return false }
            state.idle.append(reader)
            return true
        }
        // Closing takes system calls; nobody waits for them.
        if !isKept { reader.value.close() }
    }
}
