import Glibc
import JSONRPC
import Logging
import Platform

/// Writes every message in both directions to a file, as one line of JSON each, without secrets. Tracing never delays the service: messages
/// wait in bounded memory for a separate thread. If memory or disk space is exhausted, the lost messages are counted in the file and
/// reported in the log.
public final class TraceFile: MessageTap {
    private typealias Entry = (bytes: [UInt8], direction: TraceRecorder.Direction, microseconds: Int64)

    private struct State {
        var entries: [Entry] = []
        var bytes = 0
        /// The number of lost messages since the last one that was written.
        var missing = 0
        var hasWriter = false
        var isWriting = false
    }

    private static let mostBytes = 32 << 20

    private let outputs: TraceOutputs
    private let log: Logger
    private let state = ConditionLock(State())

    init(_ outputs: TraceOutputs, log: Logger) {
        self.outputs = outputs
        self.log = log
    }

    public func received(_ message: UnsafeRawBufferPointer) { add(message, .received) }
    public func sent(_ message: UnsafeRawBufferPointer) { add(message, .sent) }

    public func finish() {
        let mustWrite = state.withLock { state in
            defer { state.hasWriter = true }
            return !state.hasWriter && !state.entries.isEmpty
        }
        if mustWrite { work(untilEmpty: true) }
        _ = state.wait(deadline: Monotonic.nanoseconds() + 5_000_000_000) { $0.entries.isEmpty && !$0.isWriting ? () : nil }
        outputs.watch?.finish()
    }

    private func add(_ message: UnsafeRawBufferPointer, _ direction: TraceRecorder.Direction) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        let mustStart = state.withLock { state in
            guard state.bytes + message.count <= Self.mostBytes else {
                state.missing += 1
                return false
            }
            state.bytes += message.count
            state.entries.append((Array(message), direction, microseconds))
            defer { state.hasWriter = true }
            return !state.hasWriter
        }
        guard mustStart else { return state.broadcast() }
        // If the thread cannot be started, the next attempt or `finish` writes the queued messages.
        if !Thread.start(name: "trace", { self.work() }) { state.withLock { $0.hasWriter = false } }
    }

    // MARK: Writer thread

    /// - Parameter untilEmpty: Whether to return when the queue is empty.
    private func work(untilEmpty: Bool = false) {
        var recorder = TraceRecorder(process: Int64(getpid()))
        var file = outputs.file.map { TraceWriter($0.descriptor) }
        var isComplaining = false
        while true {
            let (batch, missing) = state.wait { state -> ([Entry], Int)? in
                state.isWriting = !state.entries.isEmpty
                guard state.isWriting else { return untilEmpty ? ([], 0) : nil }
                defer { (state.entries, state.bytes, state.missing) = ([], 0, 0) }
                return (state.entries, state.missing)
            }
            if untilEmpty, batch.isEmpty { return }
            var failure: Int32?
            for entry in batch {
                // Messages that cannot be written are recorded anyway, because later responses are masked by their requests.
                let line = recorder.record(entry.bytes, entry.direction, microseconds: entry.microseconds)
                outputs.watch?.receive(line)
                failure = file?.write(line, noting: { recorder.gap($0, microseconds: entry.microseconds) })
            }
            file?.miss(missing)
            if let failure, !isComplaining {
                log.warning(
                    "the trace file cannot be written; the number of missing entries is recorded when it can",
                    metadata: ["file": "\(outputs.file?.path ?? "")", "reason": "\(String(cString: strerror(failure)))"])
            }
            isComplaining = failure != nil
            state.withLock { $0.isWriting = false }
            state.broadcast()
        }
    }
}

/// The outputs of a trace.
public struct TraceOutputs: Sendable {
    /// The file to which every record is written.
    let file: OpenedTraceFile?
    /// Receives every record, whether there is a file or not.
    let watch: TraceWatch?

    public init(file: OpenedTraceFile? = nil, watch: TraceWatch? = nil) {
        self.file = file
        self.watch = watch
    }

    var isEmpty: Bool { file == nil && watch == nil }
}

/// Receives the records of a trace while they are made.
public struct TraceWatch: Sendable {
    /// Called with one record as JSON, on the thread of the trace.
    let receive: @Sendable ([UInt8]) -> Void
    /// Called after the last record.
    let finish: @Sendable () -> Void

    public init(_ receive: @escaping @Sendable ([UInt8]) -> Void, finish: @escaping @Sendable () -> Void = {}) {
        self.receive = receive
        self.finish = finish
    }
}
