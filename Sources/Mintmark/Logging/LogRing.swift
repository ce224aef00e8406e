import Glibc
import Platform

/// Lines on their way to stderr: a bounded queue with a thread of its own. A host that never reads costs lines that are
/// dropped and counted, never a wait.
public final class LogRing: Sendable {
    private struct State {
        var lines: [[UInt8]] = []
        var dropped = 0
        var droppedSinceLast = 0
        var hasWriter = false
        var isWriting = false
    }

    private static let limit = 1024
    private let state = Gate(State())
    private let descriptor: Int32

    public init(descriptor: Int32 = 2) { self.descriptor = descriptor }

    /// How many lines were dropped.
    public var dropped: Int { state.withLock { $0.dropped } }

    /// Hands over one line with its end.
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
        if mustStart { Thread.start(name: "log") { self.work() } } else { state.broadcast() }
    }

    /// Waits until everything is written, a fifth of a second at most.
    public func flush() {
        _ = state.wait(deadline: Monotonic.nanoseconds() + 200_000_000) { $0.lines.isEmpty && !$0.isWriting ? () : nil }
    }

    private func work() {
        while true {
            let (batch, lost) = state.wait { state -> ([[UInt8]], Int)? in
                state.isWriting = !state.lines.isEmpty
                guard state.isWriting else { return nil }
                defer {
                    state.lines = []
                    state.droppedSinceLast = 0
                }
                return (state.lines, state.droppedSinceLast)
            }
            var bytes = Array(batch.joined())
            if lost > 0 { bytes += Array("{\"level\":\"warning\",\"message\":\"\(lost) log lines were dropped\"}\n".utf8) }
            write(bytes)
            state.withLock { $0.isWriting = false }
            state.broadcast()
        }
    }

    private func write(_ bytes: [UInt8]) {
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
