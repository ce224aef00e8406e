import Platform

/// Gathers the writes that wait at one moment into one transaction, so that they share one sync of the disk.
///
/// Whoever comes while nobody writes leads: it runs its own write and all that wait, commits, and hands each its answer. Those
/// who come meanwhile wait; one of them leads next. No thread stands by and an undisturbed write changes no thread.
final class GroupCommit: Sendable {
    private struct State {
        var waiting: [Job] = []
        var isLed = false
    }

    private let state = Gate(State())
    private let most: Int

    /// - Parameter most: how many writes may share one transaction.
    init(most: Int = 256) { self.most = most }

    /// One write, its body bound to a place for its answer.
    final class Job: @unchecked Sendable {
        // Safe because `body` runs only under the leader, while its owner waits, and the outcome is handed over through the gate.
        private var body: ((Transaction) throws -> Void)?
        fileprivate let turn = Gate(Turn.waiting)
        fileprivate enum Turn { case waiting, lead, done((any Error)?) }

        init(_ body: @escaping (Transaction) throws -> Void) { self.body = body }

        /// Runs the write. It may be run again until it is let go.
        func run(_ transaction: Transaction) throws { try body!(transaction) }

        /// Lets the body go: it lives on the stack of its owner, who must find it unused when he goes on.
        fileprivate func letGo() { body = nil }

        fileprivate func finish(_ error: (any Error)?) {
            turn.withLock { $0 = .done(error) }
            turn.signal()
        }
    }

    /// Runs `job`, together with others, and returns when it is committed.
    ///
    /// - Parameter commit: runs all jobs in one transaction and answers each one's error, if any.
    /// - Throws: what made this job fail.
    func run(_ job: Job, commit: ([Job]) -> [(any Error)?]) throws {
        let leads = state.withLock { state -> Bool in
            state.waiting.append(job)
            defer { state.isLed = true }
            return !state.isLed
        }
        if !leads {
            let error: (any Error)?? = job.turn.wait { turn in
                switch turn {
                case .waiting: nil
                case .lead: .some(nil)
                case .done(let error): .some(.some(error))
                }
            }
            if case .some(let error) = error {
                if let error { throw error }
                return
            }
        }
        try lead(job, commit)
    }

    private func lead(_ own: Job, _ commit: ([Job]) -> [(any Error)?]) throws {
        let batch = state.withLock { state -> [Job] in
            let batch = Array(state.waiting.prefix(most))
            state.waiting.removeFirst(batch.count)
            return batch
        }
        let outcomes = commit(batch)
        for job in batch { job.letGo() }
        let next = state.withLock { state -> Job? in
            state.isLed = !state.waiting.isEmpty
            return state.waiting.first
        }
        if let next {
            next.turn.withLock { $0 = .lead }
            next.turn.signal()
        }
        var ownError: (any Error)?
        for (job, error) in zip(batch, outcomes) {
            if job === own { ownError = error } else { job.finish(error) }
        }
        if let ownError { throw ownError }
    }
}
