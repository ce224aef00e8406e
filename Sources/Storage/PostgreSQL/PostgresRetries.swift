import Glibc
import Platform

/// A transaction of which nothing was kept, and what may be done about it.
struct Undone: Error {
    let remedy: PostgresFailure.Remedy
    /// What is thrown if it is not begun again, or in vain.
    let error: any Error

    init(_ remedy: PostgresFailure.Remedy, _ error: StoreError) {
        self.remedy = remedy
        self.error = error
    }

    init(_ failure: PostgresFailure) { self.init(failure.remedy, failure.error) }
}

/// How often one transaction is begun again.
struct PostgresRetries {
    let deadline: UInt64
    private var pauses = 0
    private var connectionsLost = 0
    private var looks = 0

    init(waitMilliseconds: Int32) { deadline = Monotonic.nanoseconds() + UInt64(waitMilliseconds) * 1_000_000 }

    /// Runs `body` until it succeeds, or its reason to be run again is used up.
    ///
    /// - Throws: the error of the last `Undone`; what else `body` throws.
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
            // Who is overtaken this often is not overtaken: the statement is wrong.
            looks += 1
            return looks <= 3 && pause()
        }
    }

    /// Waits for a moment of random length, longer each time, so that those who met do not meet again.
    ///
    /// - Returns: whether there was time for it.
    mutating func pause() -> Bool {
        pauses += 1
        let most = UInt64(min(2_000 << min(pauses, 7), 200_000))
        let microseconds = UInt64.random(in: most / 4...most)
        guard Monotonic.nanoseconds() + microseconds * 1_000 < deadline else { return false }
        usleep(UInt32(microseconds))
        return true
    }
}
