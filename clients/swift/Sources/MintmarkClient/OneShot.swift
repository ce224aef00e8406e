import Synchronization

/// A value that is set once and awaited once. Later values are ignored.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case begun
        case waiting(CheckedContinuation<Value, Never>)
        case settled(Value)
    }

    private let state = Mutex(State.begun)

    func settle(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            if case .settled = state { return nil }
            defer { state = .settled(value) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(returning: value)
    }

    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let settled = state.withLock { state -> Value? in
                if case .settled(let value) = state { return value }
                state = .waiting(continuation)
                return nil
            }
            if let settled { continuation.resume(returning: settled) }
        }
    }
}

/// Work with several waiting callers. It is canceled when the last one stops waiting.
final class SharedWork<Value: Sendable>: Sendable {
    /// The number of waiting callers; nil if no caller waits any longer or the work has failed. New callers can then no longer join.
    private final class Waiting: Sendable {
        let count = Mutex<Int?>(1)
    }

    private let task: Task<Value, any Error>
    private let waiting = Waiting()

    /// The creator counts as the first waiting caller.
    init(_ body: @escaping @Sendable () async throws -> Value) {
        task = Task { [waiting] in
            do { return try await body() } catch {
                waiting.count.withLock { $0 = nil }
                throw error
            }
        }
    }

    /// Whether the work has no waiting callers and accepts no new ones.
    var isOver: Bool { waiting.count.withLock { $0 == nil } }

    /// Adds a waiting caller. Returns false if the work accepts no new ones.
    func join() -> Bool {
        waiting.count.withLock { count in
            count = count.map { $0 + 1 }
            return count != nil
        }
    }

    /// - Throws: the error of the work; `CancellationError` immediately if the waiting task is canceled.
    func value() async throws -> Value {
        defer { leave() }
        let shot = OneShot<Result<Value, any Error>>()
        Task { [task] in shot.settle(await task.result) }
        return try await withTaskCancellationHandler {
            await shot.value()
        } onCancel: {
            shot.settle(.failure(CancellationError()))
        }.get()
    }

    private func leave() {
        let isLast = waiting.count.withLock { count in
            count = count.flatMap { $0 == 1 ? nil : $0 - 1 }
            return count == nil
        }
        if isLast { task.cancel() }
    }
}
