import Platform
import Synchronization

/// Sends messages in the order in which they are handed over. Whoever hands one over writes it at once if nobody is
/// writing and the host reads; what cannot be written is left to a thread that starts when it is first needed.
final class Outbox: Sendable {
    private struct State {
        var queue: [[UInt8]] = []
        /// Someone is writing: what comes meanwhile goes into the queue.
        var isOwned = false
        /// The writer's thread is to go on with the queue.
        var isWritersTurn = false
        var hasWriter = false
        var isClosed = false

        /// Adds a copy to the queue in pieces that can be let go one by one.
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
    /// How often a caller goes on with what others have handed over meanwhile, before the writer's thread takes over.
    private static let rounds = 4

    private let output: Output
    private let flow: FlowControl
    private let gate = Gate(State())
    private let onBroken: @Sendable (Int32) -> Void
    private let onEmpty: @Sendable () -> Void

    /// - Parameters:
    ///   - onBroken: runs once when nothing can be written any more, with the system's number for the reason.
    ///   - onEmpty: runs when all that was handed over is sent.
    init(_ output: Output, flow: FlowControl, onBroken: @escaping @Sendable (Int32) -> Void, onEmpty: @escaping @Sendable () -> Void) {
        self.output = output
        self.flow = flow
        self.onBroken = onBroken
        self.onEmpty = onEmpty
    }

    /// Whether nothing is left to send.
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

    /// Sends nothing any more.
    func close() { close(broken: nil) }

    // MARK: On the thread of a call

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

    /// Gives up the ownership, or goes on with what has come meanwhile.
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
        // Without that thread this one writes until all is sent: whoever makes answers waits for the host to read them.
        work(untilEmpty: true)
    }

    // MARK: On the writer's thread

    private enum Turn { case piece([UInt8]), empty, end }

    /// - Parameter untilEmpty: Whether this thread only stands in for the writer's.
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

    /// - Returns: nil, or why nothing can be written any more.
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

    /// Forgets everything, and ends the writer's thread.
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
