import JSON
import Synchronization

/// The answers to the members of a batch, or to one line of a `Responder`, gathered until the last is there.
final class Batch: Sendable {
    /// What the line counts for until its answer is sent.
    let load: Load
    private let maximumBytes: Int
    private let isArray: Bool
    private let state: Mutex<State>

    private struct State {
        var answers: [UInt8] = []
        var missing: Int
    }

    init(members: Int, isArray: Bool, load: Load, maximumBytes: Int) {
        self.load = load
        self.isArray = isArray
        self.maximumBytes = maximumBytes
        state = Mutex(State(missing: members))
    }

    /// How many bytes the next answer may have.
    var room: Int { state.withLock { max(0, maximumBytes - $0.answers.count) } }

    /// Adds the answer of one member; empty for a notification. After the last one it returns the whole line, which is
    /// empty when nothing is to be answered.
    func finish(_ answer: ArraySlice<UInt8>) -> [UInt8]? {
        state.withLock { state in
            if !answer.isEmpty {
                if isArray { state.answers.append(UInt8(ascii: state.answers.isEmpty ? "[" : ",")) }
                state.answers.append(contentsOf: answer)
            }
            state.missing -= 1
            guard state.missing == 0 else { return nil }
            if isArray, !state.answers.isEmpty { state.answers.append(UInt8(ascii: "]")) }
            return state.answers
        }
    }
}
