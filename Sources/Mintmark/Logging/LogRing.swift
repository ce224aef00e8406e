import Glibc
import Platform

/// A bounded queue of log lines with a thread that writes them to standard error. If the host does not read, lines are dropped and counted,
/// and no caller waits.
public final class LogRing: Sendable {
    private struct State {
        var lines: [[UInt8]] = []
        var dropped = 0
        var droppedSinceLast = 0
        var hasWriter = false
        var isWriting = false
        var isClosed = false
    }

    private static let limit = 1024
    private let state = ConditionLock(State())
    private let sink: @Sendable (_ lines: [UInt8]) -> Void
    private let isWritable: @Sendable () -> Bool

    public convenience init(descriptor: Int32 = 2) {
        self.init({ Self.write($0, to: descriptor) }, isWritable: { Self.isWritable(descriptor) })
    }

    /// - Parameters:
    ///   - sink: Receives one or more lines with their ends, on the log thread, where it may block.
    ///   - isWritable: Returns whether a line can be written without blocking, for threads that must not block.
    public init(_ sink: @escaping @Sendable (_ lines: [UInt8]) -> Void, isWritable: @escaping @Sendable () -> Bool = { true }) {
        self.sink = sink
        self.isWritable = isWritable
    }

    private static func isWritable(_ descriptor: Int32) -> Bool {
        var looked = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&looked, 1, 0) == 1
    }

    /// The number of dropped lines.
    public var dropped: Int { state.withLock { $0.dropped } }

    /// Queues one line with its end.
    func append(_ line: [UInt8]) {
        let mustStart = state.withLock { state in
            guard state.lines.count < Self.limit else {
                state.dropped += 1
                state.droppedSinceLast += 1
                return false
            }
            state.lines.append(line)
            defer { state.hasWriter = true }
            return !state.hasWriter
        }
        guard mustStart else { return state.broadcast() }
        // `start` would log a refusal, so use `tryStart`.
        if Thread.tryStart(name: "log", { self.work() }) != 0 { writeHere() }
    }

    /// Writes queued lines on this thread as long as that does not block. The next line tries again to start a thread.
    private func writeHere() {
        while isWritable() {
            let line = state.withLock { state in
                state.isWriting = !state.lines.isEmpty
                return state.lines.isEmpty ? nil : state.lines.removeFirst()
            }
            guard let line else { break }
            sink(line)
        }
        state.withLock { ($0.hasWriter, $0.isWriting) = (false, false) }
        state.broadcast()
    }

    /// Waits until all lines are written, at most 200 ms.
    public func flush() {
        _ = state.wait(deadline: Monotonic.nanoseconds() + 200_000_000) { $0.lines.isEmpty && !$0.isWriting ? () : nil }
    }

    /// Writes the remaining lines and ends the log thread. A later line starts a new thread.
    public func close() {
        flush()
        state.withLock { $0.isClosed = true }
        state.broadcast()
    }

    private func work() {
        while true {
            let next = state.wait { state -> ([[UInt8]], Int)?? in
                state.isWriting = !state.lines.isEmpty
                guard state.isWriting else {
                    if state.isClosed { state.hasWriter = false }
                    return state.isClosed ? .some(nil) : nil
                }
                defer {
                    state.lines = []
                    state.droppedSinceLast = 0
                }
                return (state.lines, state.droppedSinceLast)
            }
            guard let (batch, lost) = next else { return }
            var bytes = Array(batch.joined())
            if lost > 0 { bytes += Array("{\"level\":\"warning\",\"message\":\"\(lost) log lines were dropped\"}\n".utf8) }
            sink(bytes)
            state.withLock { $0.isWriting = false }
            state.broadcast()
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                return
            }
        }
    }
}
