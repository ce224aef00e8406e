import Contract
import Storage

/// The revocations. Each applies to everything that was issued to a target at or before a given time.
struct Revocations: Sendable {
    private let records: [Target: RevocationRecord]

    struct Target: Hashable, Sendable {
        let kind: RevocationKind
        let subject: String

        /// Returns the targets for a subject of a trusted issuer. An issuer contains no `#`.
        static func of(_ issuer: String, _ subject: String) -> [Target] {
            [Target(kind: .issuer, subject: issuer), Target(kind: .issuerSubject, subject: "\(issuer)#\(subject)")]
        }
    }

    init(_ records: [RevocationRecord]) {
        self.records = Dictionary(records.map { ($0.target, $0) }, uniquingKeysWith: { $1 })
    }

    /// - Throws: `CredentialsRevoked` if one of `targets` was revoked at or after `issuedAt`.
    func check(_ targets: [Target], issuedAt: Int64) throws {
        if let record = hit(targets, issuedAt: issuedAt) {
            throw CredentialsRevoked(kind: record.target.kind, issuedBefore: record.issuedBefore)
        }
    }

    func hit(_ targets: [Target], issuedAt: Int64) -> RevocationRecord? {
        if records.isEmpty { return nil }
        return targets.lazy.compactMap { records[$0] }.first { issuedAt <= $0.issuedBefore }
    }

    /// Returns the issue time of credentials issued at `now`. It is one second later if a revocation of the same second would apply to
    /// them.
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
            // Other kinds are sessions that were ended by a method (`SessionEnd`).
            try query(
                """
                SELECT kind, target, issued_before, recorded_at, expires_at FROM revocation
                WHERE kind IN ('sessionToken', 'identityId', 'roleArn', 'poolId', 'issuer', 'issuerSubject')
                """
            ) { row in
                RevocationKind(rawValue: row.string(0)).map { kind in
                    RevocationRecord(
                        target: .init(kind: kind, subject: row.string(1)), issuedBefore: row.int(2), createdAt: row.int(3),
                        expiresAt: row.int(4))
                }
            }.compactMap { $0 })
    }

    /// Stores a revocation and returns the effective one. An earlier revocation of the same target can only be extended.
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
