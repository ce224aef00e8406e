import Glibc
import Storage
import Synchronization

/// The order of the audit records of one second, which can be in several chains (Sources/Audit/README.md, "Order of the records").
package enum AuditPositions {
    package static let statements: [SQL] = [
        "ALTER TABLE audit ADD COLUMN position BIGINT NOT NULL DEFAULT 0",
        "DROP INDEX IF EXISTS audit_at",
        "CREATE INDEX audit_order ON audit (at, position, chain, number)",
    ]

    private static let last = Atomic<Int64>(0)

    /// Returns a number that is greater than all earlier results in this process: the time of the machine in microseconds, or the next number
    /// if that time is not later. The virtual clock of a testing store has no influence, because it can stop.
    static func next(at now: Int64 = AuditPositions.microseconds()) -> Int64 {
        var known = last.load(ordering: .relaxed)
        while true {
            let next = max(known + 1, now)
            let (isStored, current) = last.compareExchange(expected: known, desired: next, ordering: .relaxed)
            if isStored { return next }
            known = current
        }
    }

    /// Returns the time of the machine, in microseconds since 1970-01-01 UTC.
    private static func microseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}

extension Transaction {
    /// Returns the number after the highest position of the second `now`. It depends on the content of the store only, which makes the
    /// records of a seeded store repeatable. The caller holds the lock of the audit log.
    func auditPosition(after now: Int64) throws -> Int64 {
        try queryOne("SELECT COALESCE(MAX(position), 0) + 1 FROM audit WHERE at = $1", now) { $0.int(0) } ?? 1
    }
}
