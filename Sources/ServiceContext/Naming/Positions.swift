import Platform

/// Numbers the identities created within one second.
package final class Positions: Sendable {
    private let state = UnfairLock((second: Int64(0), count: 0))

    package init() {}

    package func next(in second: Int64) -> Int {
        state.withLock { state in
            if state.second != second { state = (second, 0) }
            defer { state.count += 1 }
            return state.count
        }
    }
}
