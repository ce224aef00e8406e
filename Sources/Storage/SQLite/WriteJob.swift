import Platform

/// One write that waits for its turn: its body, and a place for the answer.
final class WriteJob: @unchecked Sendable {
    // Safe because `body` is touched by its owner only before the job is handed over, and by the writer thread only up to
    // `finish`, for which the owner waits.
    private var body: ((Transaction) throws -> Void)?
    private let outcome = Gate<Outcome>(.waiting)

    private enum Outcome {
        case waiting
        case kept
        case refused(any Error)
    }

    init(_ body: @escaping (Transaction) throws -> Void) { self.body = body }

    /// Runs the body.
    func perform(_ transaction: Transaction) throws { try body?(transaction) }

    /// Hands over the answer: nil if what the body wrote is safe on the disk. The body, which lives on the stack of whoever
    /// waits, is let go before.
    func finish(_ error: (any Error)?) {
        body = nil
        outcome.withLock { $0 = error.map(Outcome.refused) ?? .kept }
        outcome.signal()
    }

    /// Waits for the answer.
    ///
    /// - Throws: why nothing was kept.
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
