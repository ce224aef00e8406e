import Contract
import Platform

/// A refresh that is under way, for all who wait for it.
final class ProviderRefresh: Sendable {
    typealias Outcome = Result<CredentialsProviderAnswer, any Error>
    typealias Listener = @Sendable (Outcome) -> Void

    private let gate = Gate<(outcome: Outcome?, listeners: [Listener])>((nil, []))

    /// Waits for the end.
    var outcome: Outcome { gate.wait { $0.outcome } }

    /// Calls the listener at the end; at once if that has come.
    func whenDone(_ listener: @escaping Listener) {
        let outcome = gate.withLock { contents in
            if contents.outcome == nil { contents.listeners.append(listener) }
            return contents.outcome
        }
        if let outcome { listener(outcome) }
    }

    /// Tells all who wait. Only the first outcome counts.
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
