import JSON
import Synchronization

/// Pipelined lines that one compute worker reads and runs together, and whose responses it sends together.
final class LineBatch: Sendable {
    let bytes: [UInt8]
    let lines: [Range<Int>]
    let load: Load
    private let state = Mutex(State())

    private struct State {
        /// The index of the first line that has not started. Earlier lines belong to the worker.
        var begun = 0
        var current: Call?
        var cancelledIds: [JSONNode] = []
        var isCutOff = false
    }

    init(bytes: [UInt8], lines: [Range<Int>], load: Load) {
        self.bytes = bytes
        self.lines = lines
        self.load = load
    }

    /// Calls `body` with the text of a line.
    func withLine<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[lines[index]])) }
    }

    // MARK: The worker

    /// Returns the index of the next line to run, or `nil` if no line is left or the chunk was cut off.
    func nextLine() -> Int? {
        state.withLock { state in
            state.current = nil
            guard !state.isCutOff, state.begun < lines.count else { return nil }
            defer { state.begun += 1 }
            return state.begun
        }
    }

    /// Records that the worker is running `call`. If the call was canceled earlier, cancels it now.
    func enter(_ call: Call) {
        let isCancelled = state.withLock { state in
            state.current = call
            return call.hasId(among: state.cancelledIds)
        }
        if isCancelled { call.cancel() }
    }

    /// Returns whether a request with the ID of `call` has been canceled.
    func hasCancelled(_ call: Call) -> Bool { state.withLock { call.hasId(among: $0.cancelledIds) } }

    // MARK: Other threads

    /// The call that the worker is running.
    var runningCall: Call? { state.withLock { $0.current } }

    /// Cancels the requests in this chunk with this ID.
    func cancel(_ id: JSONNode) {
        let current = state.withLock { state in
            state.cancelledIds.append(id)
            return state.current
        }
        if let current, current.hasId(id) { current.cancel() }
    }

    /// Cuts off the chunk. Returns the call that the worker is running and the lines that it has not started.
    func cutOff() -> (running: Call?, rest: Range<Int>) {
        state.withLock { state in
            state.isCutOff = true
            return (state.current, state.begun..<lines.count)
        }
    }
}

extension Call {
    /// Returns whether the request has this ID. Strings are compared by value, numbers by their text.
    func hasId(_ other: JSONNode) -> Bool {
        guard let id = envelope.id, id.kind == other.kind else { return false }
        return id.kind == .string ? id.string == other.string : id.raw { a in other.raw { a.elementsEqual($0) } }
    }

    func hasId(among ids: [JSONNode]) -> Bool { !ids.isEmpty && ids.contains { hasId($0) } }
}
