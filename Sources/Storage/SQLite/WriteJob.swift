import Glibc
import Platform

/// A waiting write: its body and its outcome.
final class WriteJob: @unchecked Sendable {
    // Safe because its owner accesses `body` only before it passes the job to the writer. The writer thread accesses `body` only until
    // `finish`, for which the owner waits.
    private var body: ((Transaction) throws -> Void)?
    /// The thread that waits for the outcome.
    private let caller = pthread_self()
    /// Whether the body uses a secret that is short enough to be stored on the stack.
    private let usesSecret = ProcessMemory.hasSecret
    private let outcome = ConditionLock<Outcome>(.waiting)

    private enum Outcome {
        case waiting
        case kept
        case refused(any Error)
    }

    init(_ body: @escaping (Transaction) throws -> Void) { self.body = body }

    func perform(_ transaction: Transaction) throws {
        if usesSecret { ProcessMemory.noteSecret() }
        try ThreadsInTransaction.run(for: caller) { try body?(transaction) }
    }

    /// Sets the outcome: `nil` if the changes are on disk. Releases the body first, because it is on the stack of the waiting thread.
    func finish(_ error: (any Error)?) {
        body = nil
        outcome.withLock { $0 = error.map(Outcome.refused) ?? .kept }
        outcome.signal()
    }

    /// Waits for the outcome.
    ///
    /// - Throws: The error because of which the write was not committed.
    func wait() throws {
        let error: (any Error)? = outcome.wait { outcome in
            switch outcome {
            case .waiting: nil
            case .kept: .some(nil)
            case .refused(let error): .some(error)
            }
        }
        if let error { throw error }
    }
}
