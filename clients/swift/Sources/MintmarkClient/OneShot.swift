import Synchronization

/// A value that comes once and is waited for once. The first word counts.
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

/// Work that several wait for. Each may give up; when the last one has, the work is cancelled.
final class SharedWork<Value: Sendable>: Sendable {
    /// How many wait; nil once nobody does, or it has failed, and nobody may any more.
    private final class Waiting: Sendable {
        let count = Mutex<Int?>(1)
    }

    private let task: Task<Value, any Error>
    private let waiting = Waiting()

    /// The first who waits is counted already.
    init(_ body: @escaping @Sendable () async throws -> Value) {
        task = Task { [waiting] in
            do { return try await body() } catch {
                waiting.count.withLock { $0 = nil }
                throw error
            }
        }
    }

    /// Whether nobody waits for it, and nobody may any more.
    var isOver: Bool { waiting.count.withLock { $0 == nil } }

    /// Whether one more may wait for it.
    func join() -> Bool {
        waiting.count.withLock { count in
            count = count.map { $0 + 1 }
            return count != nil
        }
    }

    /// - Throws: what the work throws; `CancellationError` at once when the task that waits is cancelled.
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
