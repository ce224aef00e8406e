import Platform

/// The connections of one store. The one that was just used is taken first: it is warm, and its chain of audit records goes on.
final class PostgresPool: Sendable {
    private struct State {
        var idle: [Owned<PostgresConnection>] = []
        /// How many there are, idle or in use.
        var open = 0
        /// How many there ever were.
        var opened = 0
        var isClosed = false
    }

    let connecting: PostgresConnecting
    private let state = Gate(State())
    private let name: String
    private let most: Int

    /// - Parameters:
    ///   - name: the name of the first connection; the others' begin with it.
    ///   - most: how many there may be at once.
    init(_ connecting: PostgresConnecting, name: String, most: Int) {
        self.connecting = connecting
        self.name = name
        self.most = max(1, most)
    }

    private enum Turn {
        case warm(Owned<PostgresConnection>)
        case new(String)
        case closed
    }

    /// A connection for one owner, who gives it back.
    ///
    /// - Throws: `StoreError.busy` if none is free in time, `StoreError.closed`; `PostgresFailure` if a new one cannot be opened.
    func take(deadline: UInt64) throws -> Owned<PostgresConnection> {
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
            do { return Owned(try connecting.connect(name: name)) } catch {
                left()
                throw error
            }
        }
    }

    /// Puts a connection back, or away if it is of no more use.
    func giveBack(_ owned: Owned<PostgresConnection>) {
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

    /// Puts away those that nobody uses: where one has lost its server, they all have.
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

    /// Opens and takes no more.
    func close() {
        state.withLock { $0.isClosed = true }
        state.broadcast()
        closeIdle()
    }

    /// Returns when everyone has given back what they had.
    func waitUntilClosed() { state.wait { $0.open == 0 ? () : nil } }

    private func left() {
        state.withLock { $0.open -= 1 }
        state.broadcast()
    }
}
