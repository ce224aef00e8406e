import Platform
import Synchronization

/// Sends messages in the order in which they are submitted. A sending thread writes its message directly if no other thread is writing and
/// the output accepts it. The rest is left to a writer thread, which starts on first use.
final class Outbox: Sendable {
    private struct State {
        var queue: [[UInt8]] = []
        /// Whether a thread is writing. Other messages are queued.
        var isOwned = false
        /// Whether the writer thread is to continue with the queue.
        var isWritersTurn = false
        var hasWriter = false
        var isClosed = false

        /// Adds a copy to the queue, in pieces that can be released separately.
        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            if let last = queue.last, last.count + bytes.count <= Outbox.pieceSize {
                queue[queue.count - 1].append(contentsOf: bytes)
            } else {
                var piece: [UInt8] = []
                piece.reserveCapacity(max(bytes.count, min(Outbox.pieceSize, queue.isEmpty ? 0 : Outbox.pieceSize)))
                piece.append(contentsOf: bytes)
                queue.append(piece)
            }
        }
    }

    private static let pieceSize = 64 * 1024
    /// The number of queued pieces that a sending thread writes before the writer thread takes over.
    private static let rounds = 4

    private let output: Output
    private let flow: FlowControl
    private let gate = ConditionLock(State())
    private let onBroken: @Sendable (Int32) -> Void
    private let onEmpty: @Sendable () -> Void

    /// - Parameters:
    ///   - onBroken: Runs once if the output can no longer be written, with the `errno`.
    ///   - onEmpty: Runs when all submitted messages are sent.
    init(_ output: Output, flow: FlowControl, onBroken: @escaping @Sendable (Int32) -> Void, onEmpty: @escaping @Sendable () -> Void) {
        self.output = output
        self.flow = flow
        self.onBroken = onBroken
        self.onEmpty = onEmpty
    }

    /// Whether all messages are sent.
    var isEmpty: Bool { gate.withLock { !$0.isOwned && $0.queue.isEmpty } }

    /// Sends one or more complete messages.
    func send(_ message: [UInt8]) {
        guard !message.isEmpty else { return }
        message.withUnsafeBytes { send($0) }
    }

    private func send(_ message: UnsafeRawBufferPointer) {
        let isMine = gate.withLock { state in
            if state.isClosed { return false }
            if state.isOwned {
                state.add(message)
                flow.addUnsent(message.count)
                return false
            }
            state.isOwned = true
            return true
        }
        guard isMine else { return }
        switch write(message) {
        case .all: passOn()
        case .some(let count):
            let rest = UnsafeRawBufferPointer(rebasing: message[count...])
            flow.addUnsent(rest.count)
            leaveToWriter([UInt8](rest))
        case .broken(let reason): close(broken: reason)
        }
    }

    /// Stops sending.
    func close() { close(broken: nil) }

    // MARK: On a sending thread

    private enum Progress { case all, some(Int), broken(Int32) }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Progress {
        var done = 0
        while done < bytes.count {
            switch output.tryWrite(UnsafeRawBufferPointer(rebasing: bytes[done...])) {
            case .bytes(let count): done += count
            case .wouldWait: return .some(done)
            case .broken(let reason): return .broken(reason)
            }
        }
        return .all
    }

    /// Gives up the ownership of the output, or continues with messages that were queued during the write.
    private func passOn() {
        for _ in 0..<Self.rounds {
            let next = gate.withLock { state -> [UInt8]? in
                guard !state.queue.isEmpty else {
                    state.isOwned = false
                    return nil
                }
                return state.queue.removeFirst()
            }
            guard let next else { return onEmpty() }
            switch next.withUnsafeBytes({ write($0) }) {
            case .all: flow.removeUnsent(next.count)
            case .some(let count):
                flow.removeUnsent(count)
                return leaveToWriter(Array(next[count...]))
            case .broken(let reason): return close(broken: reason)
            }
        }
        leaveToWriter([])
    }

    private func leaveToWriter(_ rest: [UInt8]) {
        let mustStart = gate.withLock { state in
            if state.isClosed { return false }
            if !rest.isEmpty { state.queue.insert(rest, at: 0) }
            state.isWritersTurn = true
            defer { state.hasWriter = true }
            return !state.hasWriter
        }
        guard mustStart else { return gate.broadcast() }
        if Thread.start(name: "writer", { self.work() }) { return }
        // If the writer thread cannot be started, this thread writes until the queue is empty and blocks while the host does not read.
        work(untilEmpty: true)
    }

    // MARK: On the writer's thread

    private enum Turn { case piece([UInt8]), empty, end }

    /// - Parameter untilEmpty: Whether the current thread replaces the writer thread and returns when the queue is empty.
    private func work(untilEmpty: Bool = false) {
        while true {
            let turn = gate.wait { state -> Turn? in
                if state.isClosed { return .end }
                guard state.isWritersTurn else { return nil }
                if !state.queue.isEmpty { return .piece(state.queue.removeFirst()) }
                state.isWritersTurn = false
                state.isOwned = false
                if untilEmpty { state.hasWriter = false }
                return .empty
            }
            switch turn {
            case .end: return
            case .empty:
                onEmpty()
                if untilEmpty { return }
            case .piece(let piece): if let reason = writeAll(piece) { return close(broken: reason) }
            }
        }
    }

    /// - Returns: `nil`, or the `errno` if the output can no longer be written.
    private func writeAll(_ piece: [UInt8]) -> Int32? {
        piece.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                switch output.write(UnsafeRawBufferPointer(rebasing: bytes[done...])) {
                case .bytes(let count):
                    done += count
                    flow.removeUnsent(count)
                case .wouldWait: output.waitUntilWritable()
                case .broken(let reason): return reason
                }
            }
            return nil
        }
    }

    /// Discards all queued messages and ends the writer thread.
    private func close(broken reason: Int32?) {
        let (forgotten, isFirst) = gate.withLock { state in
            defer {
                state.queue = []
                state.isClosed = true
            }
            return (state.queue.reduce(0) { $0 + $1.count }, !state.isClosed)
        }
        gate.broadcast()
        flow.removeUnsent(forgotten)
        if let reason, isFirst { onBroken(reason) }
    }
}
