import Glibc
import Platform

/// A transaction that was rolled back, and its remedy.
struct Undone: Error {
    let remedy: PostgresFailure.Remedy
    /// The error to throw if the transaction is not repeated, or if repeating it fails.
    let error: any Error

    init(_ remedy: PostgresFailure.Remedy, _ error: StoreError) {
        self.remedy = remedy
        self.error = error
    }

    init(_ failure: PostgresFailure) { self.init(failure.remedy, failure.error) }
}

/// Decides whether and when a transaction is repeated.
struct PostgresRetries {
    let deadline: UInt64
    private var pauses = 0
    private var connectionsLost = 0
    private var looks = 0

    init(waitMilliseconds: Int32) { deadline = Monotonic.nanoseconds() + UInt64(waitMilliseconds) * 1_000_000 }

    /// Runs `body` until it succeeds or no further attempt is allowed.
    ///
    /// - Throws: The error of the last `Undone`; any other error that `body` throws.
    mutating func run<R>(_ body: () throws -> R) throws -> R {
        while true {
            do { return try body() } catch let undone as Undone {
                guard mayTryAgain(undone.remedy) else { throw undone.error }
            }
        }
    }

    private mutating func mayTryAgain(_ remedy: PostgresFailure.Remedy) -> Bool {
        switch remedy {
        case .none: return false
        case .repeatSoon: return pause()
        case .connectAnew:
            connectionsLost += 1
            return connectionsLost <= 5 && pause()
        case .lookAgain:
            // Repeated conflicts of this kind are not caused by concurrency: the statement itself is wrong.
            looks += 1
            return looks <= 3 && pause()
        }
    }

    /// Sleeps for a random time that increases with each call, so that conflicting transactions do not collide again.
    ///
    /// - Returns: `false` if the deadline would have passed; then it does not sleep.
    mutating func pause() -> Bool {
        pauses += 1
        let most = UInt64(min(2_000 << min(pauses, 7), 200_000))
        let microseconds = UInt64.random(in: most / 4...most)
        guard Monotonic.nanoseconds() + microseconds * 1_000 < deadline else { return false }
        usleep(UInt32(microseconds))
        return true
    }
}
