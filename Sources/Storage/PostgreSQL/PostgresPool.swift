import Platform

/// The connections of one store. The most recently used one is reused first: its caches are warm, and it continues its chain of audit
/// records.
final class PostgresPool: Sendable {
    private struct State {
        var idle: [UnsafeTransfer<PostgresConnection>] = []
        /// The number of connections, idle or in use.
        var open = 0
        /// The number of connections opened so far.
        var opened = 0
        var isClosed = false
        var hasPooler = false
    }

    let connecting: PostgresConnecting
    private let state = ConditionLock(State())
    private let name: String
    private let most: Int

    /// - Parameters:
    ///   - name: The name of the first connection and the prefix of the other names.
    ///   - most: The maximum number of open connections.
    init(_ connecting: PostgresConnecting, name: String, most: Int) {
        self.connecting = connecting
        self.name = name
        self.most = max(1, most)
    }

    /// Whether the connections go through a connection pooler.
    var hasPooler: Bool { state.withLock { $0.hasPooler } }

    private enum Turn {
        case warm(UnsafeTransfer<PostgresConnection>)
        case new(String)
        case closed
    }

    /// Takes a connection out of the pool. The caller must return it with `giveBack`.
    ///
    /// - Throws: `StoreError.busy` if no connection is free before the deadline; `StoreError.closed`; `PostgresFailure` if a new connection
    ///   cannot be opened.
    func take(deadline: UInt64) throws -> UnsafeTransfer<PostgresConnection> {
        let turn = state.wait(deadline: deadline) { state -> Turn? in
            if state.isClosed { return .closed }
            if let warm = state.idle.popLast() { return .warm(warm) }
            guard state.open < most else { return nil }
            state.open += 1
            state.opened += 1
            return .new(state.opened == 1 ? name : "\(name).\(state.opened)")
        }
        switch turn {
        case nil: throw StoreError.busy
        case .closed: throw StoreError.closed
        case .warm(let connection): return connection
        case .new(let name):
            do {
                let connection = try connecting.connect(name: name)
                if connection.transactionSettings != nil { state.withLock { $0.hasPooler = true } }
                return UnsafeTransfer(connection)
            } catch {
                left()
                throw error
            }
        }
    }

    /// Returns a connection to the pool, or closes it if it is no longer usable.
    func giveBack(_ owned: UnsafeTransfer<PostgresConnection>) {
        let isKept =
            owned.value.isUsable
            && state.withLock { state in
                if state.isClosed { return false }
                state.idle.append(owned)
                return true
            }
        if isKept { return state.signal() }
        owned.value.close()
        left()
    }

    /// Closes the idle connections: if one connection has lost its server, all have.
    func closeIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for owned in idle {
            owned.value.close()
            left()
        }
    }

    /// Closes the pool. `take` then fails with `StoreError.closed`.
    func close() {
        state.withLock { $0.isClosed = true }
        state.broadcast()
        closeIdle()
    }

    /// Returns when all connections have been returned.
    func waitUntilClosed() { state.wait { $0.open == 0 ? () : nil } }

    private func left() {
        state.withLock { $0.open -= 1 }
        state.broadcast()
    }
}
