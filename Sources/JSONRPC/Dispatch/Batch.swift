import JSON
import Synchronization

/// Collects the responses to the members of a batch, or to one line of a `Responder`, until the last one is complete.
final class Batch: Sendable {
    /// The load of the line until its response is sent.
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

    /// The maximum length of the next response, in bytes.
    var room: Int { state.withLock { max(0, maximumBytes - $0.answers.count) } }

    /// Adds the response of one member, which is empty for a notification. After the last member, returns the whole line, or an empty line
    /// if no response is required.
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
