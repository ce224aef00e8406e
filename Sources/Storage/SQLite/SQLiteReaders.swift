import Platform

/// The connections that read. The most recently used one is reused first: its pages and statements are cached.
final class SQLiteReaders: Sendable {
    private struct State {
        var idle: [UnsafeTransfer<SQLiteConnection>] = []
        var isClosed = false
    }

    private let state = UnfairLock(State())
    private let open: @Sendable () throws -> UnsafeTransfer<SQLiteConnection>
    private let memoryLock: ReaderWriterLock?
    /// The maximum number of idle connections: the number of threads that read. Each new connection must read the schema and prepare its
    /// statements again.
    private let mostIdle = 40

    /// - Parameters:
    ///   - memoryLock: A lock to hold while a transaction is open.
    ///   - open: Opens another connection.
    init(memoryLock: ReaderWriterLock?, open: @escaping @Sendable () throws -> UnsafeTransfer<SQLiteConnection>) {
        self.memoryLock = memoryLock
        self.open = open
    }

    /// Runs `body` in one transaction of one connection. With a shared view, uses the transaction that an earlier read of the view began.
    /// In memory there are no shared views: a view would block writes, and then every read that does not use it.
    ///
    /// - Throws: `StoreError.closed`; any error that `body` throws.
    func read<R>(_ access: StoreAccess, _ body: (Transaction) throws -> R) throws -> R {
        if memoryLock == nil, let shared = access.view { return try shared.read(from: self, begin: begin, body) }
        let view = try begin()
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
    /// - Throws: `StoreError.closed`.
    func begin() throws -> SQLiteView {
        memoryLock?.lockForReading()
        do {
            let owned = try take()
            do {
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

    /// Takes back the connection of a view.
    func end(_ owned: UnsafeTransfer<SQLiteConnection>) {
        // A connection whose transaction cannot be ended is discarded.
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

    private func take() throws -> UnsafeTransfer<SQLiteConnection> {
        let (isClosed, idle) = state.withLock { ($0.isClosed, $0.idle.popLast()) }
        if isClosed { throw StoreError.closed }
        return try idle ?? open()
    }

    private func giveBack(_ reader: UnsafeTransfer<SQLiteConnection>) {
        let isKept = state.withLock { state in
            guard !state.isClosed, state.idle.count < mostIdle else { return false }
            state.idle.append(reader)
            return true
        }
        // Closing takes system calls, so it happens outside the lock.
        if !isKept { reader.value.close() }
    }
}
