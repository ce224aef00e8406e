import Arguments
import Glibc
import JSON
import JSONRPC
import Mintmark
import Platform
import Synchronization

/// Whether SIGINT has arrived. A global variable because the signal handler writes it.
private let interrupted = Atomic(false)

/// Calls methods in this process one after another, reports their progress, and cancels them on SIGINT.
final class LocalCalls: Sendable {
    private struct State {
        var answer: JSONValue?
        var progress: (@Sendable (JSONValue) -> Void)?
    }

    private let state: Mutex<State>
    private let server: LocalServer
    private let number = Atomic(0)
    /// A pipe that wakes the waiting thread when a response has arrived.
    private let wakes: (read: Int32, write: Int32)

    /// - Throws: `ValidationError` if no file descriptors are available.
    init(_ mintmark: Mintmark) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ValidationError("A pipe cannot be created: \(String(cString: strerror(errno))).") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let wake = ends[1]
        wakes = (ends[0], wake)
        let received = Receiver(wake: wake)
        server = mintmark.local { received.take($0) }
        state = Mutex(State())
        received.handler.withLock { $0 = { [weak self] in self?.take($0) } }
    }

    /// Waits for all calls, for at most five seconds.
    func close() {
        _ = server.close(deadline: Monotonic.nanoseconds() + 5_000_000_000)
        Glibc.close(wakes.read)
        Glibc.close(wakes.write)
    }

    /// Sends a request and waits for its response. SIGINT cancels the request; the response is then an error.
    func call(_ method: String, _ params: JSONValue, progress: (@Sendable (JSONValue) -> Void)? = nil) -> JSONValue {
        let id = number.add(1, ordering: .relaxed).newValue
        var request: JSONObject = ["jsonrpc": "2.0", "id": .number(JSONNumber(Int64(id))), "method": .string(method), "params": params]
        if progress != nil { request["progressToken"] = .number(JSONNumber(Int64(id))) }
        return send(.object(request), progress: progress)
    }

    /// Sends a whole request, which must have an ID.
    func send(_ request: JSONValue, progress: (@Sendable (JSONValue) -> Void)? = nil) -> JSONValue {
        state.withLock { $0 = State(answer: nil, progress: progress) }
        interrupted.store(false, ordering: .relaxed)
        let former = signal(SIGINT) { _ in interrupted.store(true, ordering: .relaxed) }
        defer { signal(SIGINT, former) }
        request.bytes.withUnsafeBytes { server.take($0) }
        while true {
            if let answer = state.withLock({ $0.answer }) { return answer }
            if interrupted.exchange(false, ordering: .relaxed) {
                let cancel: JSONValue = ["jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": request["id"] ?? .null]]
                cancel.bytes.withUnsafeBytes { server.take($0) }
            }
            var awaited = pollfd(fd: wakes.read, events: Int16(POLLIN), revents: 0)
            // The limit covers a signal between the check and the wait.
            if poll(&awaited, 1, 200) > 0 {
                var bytes = [UInt8](repeating: 0, count: 64)
                _ = read(wakes.read, &bytes, bytes.count)
            }
        }
    }

    private func take(_ message: JSONValue) {
        if message["method"]?.string == "$/progress" {
            let progress = state.withLock { $0.progress }
            progress?(message["params"]?["value"] ?? message["params"] ?? .null)
        } else if message["id"] != nil, message["method"] == nil {
            state.withLock { $0.answer = message }
        }
    }

    /// Splits what the server sends into messages.
    private final class Receiver: Sendable {
        let handler = Mutex<(@Sendable (JSONValue) -> Void)?>(nil)
        private let wake: Int32

        init(wake: Int32) { self.wake = wake }

        func take(_ lines: UnsafeRawBufferPointer) {
            let handler = handler.withLock { $0 }
            for line in lines.split(separator: 0x0A) {
                if let message = try? JSONValue(parsing: Array(line)) { handler?(message) }
            }
            var byte: UInt8 = 0
            _ = write(wake, &byte, 1)
        }
    }
}
