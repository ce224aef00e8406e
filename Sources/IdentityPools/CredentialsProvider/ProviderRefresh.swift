import Contract
import Platform

/// A refresh in progress, with the calls that wait for it.
final class ProviderRefresh: Sendable {
    typealias Outcome = Result<CredentialsProviderAnswer, any Error>
    typealias Listener = @Sendable (Outcome) -> Void

    private let gate = ConditionLock<(outcome: Outcome?, listeners: [Listener])>((nil, []))

    /// Waits for the outcome and returns it.
    var outcome: Outcome { gate.wait { $0.outcome } }

    /// Calls the listener with the outcome, immediately if it is already available.
    func whenDone(_ listener: @escaping Listener) {
        let outcome = gate.withLock { contents in
            if contents.outcome == nil { contents.listeners.append(listener) }
            return contents.outcome
        }
        if let outcome { listener(outcome) }
    }

    /// Sets the outcome and notifies the waiting calls. Later outcomes are ignored.
    func finish(_ outcome: Outcome) {
        let listeners = gate.withLock { contents -> [Listener] in
            guard contents.outcome == nil else { return [] }
            defer { contents = (outcome, []) }
            return contents.listeners
        }
        gate.broadcast()
        for listener in listeners { listener(outcome) }
    }
}
