import Contract
import Storage

/// What was revoked: of each target, everything issued at or before a moment.
struct Revocations: Sendable {
    private let records: [Target: RevocationRecord]

    struct Target: Hashable, Sendable {
        let kind: RevocationKind
        let subject: String
    }

    init(_ records: [RevocationRecord]) {
        self.records = Dictionary(records.map { ($0.target, $0) }, uniquingKeysWith: { $1 })
    }

    /// - Throws: `CredentialsRevoked` if any of `targets` was revoked after `issuedAt`.
    func check(_ targets: [Target], issuedAt: Int64) throws {
        if let record = hit(targets, issuedAt: issuedAt) {
            throw CredentialsRevoked(kind: record.target.kind, issuedBefore: record.issuedBefore)
        }
    }

    func hit(_ targets: [Target], issuedAt: Int64) -> RevocationRecord? {
        if records.isEmpty { return nil }
        return targets.lazy.compactMap { records[$0] }.first { issuedAt <= $0.issuedBefore }
    }

    /// When something issued at `now` must say it was issued, so that a revocation of this very second does not reach it.
    func issueMoment(_ targets: [Target], now: Int64) -> Int64 {
        targets.compactMap { records[$0]?.issuedBefore }.filter { $0 == now }.isEmpty ? now : now + 1
    }
}

struct RevocationRecord: Sendable {
    let target: Revocations.Target
    let issuedBefore: Int64
    let createdAt: Int64
    let expiresAt: Int64
}

extension Transaction {
    func revocations() throws -> Revocations {
        Revocations(
            // The others are sessions that a method ended (`SessionEnd`).
            try query(
                """
                SELECT kind, target, issued_before, recorded_at, expires_at FROM revocation
                WHERE kind IN ('sessionToken', 'identityId', 'roleArn', 'poolId')
                """
            ) { row in
                RevocationKind(rawValue: row.string(0)).map { kind in
                    RevocationRecord(
                        target: .init(kind: kind, subject: row.string(1)), issuedBefore: row.int(2), createdAt: row.int(3),
                        expiresAt: row.int(4))
                }
            }.compactMap { $0 })
    }

    /// Records a revocation. An earlier one of the same target is only ever extended. Answers what holds now.
    func record(_ revocation: RevocationRecord) throws -> RevocationRecord {
        let held = try queryOne(
            """
            INSERT INTO revocation (kind, target, issued_before, recorded_at, expires_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (kind, target) DO UPDATE SET
                issued_before = CASE WHEN excluded.issued_before > revocation.issued_before
                    THEN excluded.issued_before ELSE revocation.issued_before END,
                recorded_at = excluded.recorded_at,
                expires_at = CASE WHEN excluded.expires_at > revocation.expires_at
                    THEN excluded.expires_at ELSE revocation.expires_at END
            RETURNING issued_before, expires_at
            """,
            revocation.target.kind.rawValue, revocation.target.subject, revocation.issuedBefore, revocation.createdAt, revocation.expiresAt
        ) { ($0.int(0), $0.int(1)) }
        try advanceEpoch()
        return RevocationRecord(
            target: revocation.target, issuedBefore: held?.0 ?? revocation.issuedBefore, createdAt: revocation.createdAt,
            expiresAt: held?.1 ?? revocation.expiresAt)
    }
}
