import JSON
import Synchronization

/// Pipelined lines that one compute worker reads, runs and answers together.
final class Chunk: Sendable {
    let bytes: [UInt8]
    let lines: [Range<Int>]
    let load: Load
    private let state = Mutex(State())

    private struct State {
        /// Lines before this one are the worker's; those from it on nobody's yet.
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

    /// Lends the text of a line.
    func withLine<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[lines[index]])) }
    }

    // MARK: The worker

    /// The next line to run, nil when there is none or the chunk was cut off.
    func nextLine() -> Int? {
        state.withLock { state in
            state.current = nil
            guard !state.isCutOff, state.begun < lines.count else { return nil }
            defer { state.begun += 1 }
            return state.begun
        }
    }

    /// Notes that the worker now runs `call`, which is cancelled if that was asked for before.
    func enter(_ call: Call) {
        let isCancelled = state.withLock { state in
            state.current = call
            return call.hasId(among: state.cancelledIds)
        }
        if isCancelled { call.cancel() }
    }

    /// Whether a request with the id of `call` has been cancelled.
    func hasCancelled(_ call: Call) -> Bool { state.withLock { call.hasId(among: $0.cancelledIds) } }

    // MARK: Others

    /// Cancels the requests in this chunk that have this id.
    func cancel(_ id: JSONNode) {
        let current = state.withLock { state in
            state.cancelledIds.append(id)
            return state.current
        }
        if let current, current.hasId(id) { current.cancel() }
    }

    /// Takes what the worker has not begun away from it, and names what it is doing.
    func cutOff() -> (running: Call?, rest: Range<Int>) {
        state.withLock { state in
            state.isCutOff = true
            return (state.current, state.begun..<lines.count)
        }
    }
}

extension Call {
    /// Whether the request has this id: the same value, or for numbers the same text.
    func hasId(_ other: JSONNode) -> Bool {
        guard let id = envelope.id, id.kind == other.kind else { return false }
        return id.kind == .string ? id.string == other.string : id.raw { a in other.raw { a.elementsEqual($0) } }
    }

    func hasId(among ids: [JSONNode]) -> Bool { !ids.isEmpty && ids.contains { hasId($0) } }
}
