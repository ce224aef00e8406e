import Contract
import Crypto
import JSON
import ServiceContext
import Storage

/// The stored record of a trusted issuer.
package struct TrustedIssuerRecord: Sendable {
    /// The issuer without its scheme, by which trust policies and condition keys name it.
    package let name: String
    package let settings: TrustedIssuerDeclaration
    package let createdAt: Int64
    package let updatedAt: Int64

    package init(name: String, settings: TrustedIssuerDeclaration, createdAt: Int64, updatedAt: Int64) {
        self.name = name
        self.settings = settings
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

extension TrustedIssuerRecord {
    /// The maximum number of trusted issuers of a store, as in an account of AWS.
    package static let maximumCount = 100

    fileprivate init(_ row: Row) throws {
        let settings: TrustedIssuerDeclaration
        do { settings = try TrustedIssuerDeclaration(decoding: JSONText(row.string(1)).root) } catch {
            throw StoreError.corrupt(reason: "the settings of the trusted issuer \(row.string(0)) cannot be read")
        }
        self.init(name: row.string(0), settings: settings, createdAt: row.int(2), updatedAt: row.int(3))
    }
}

extension Transaction {
    package func trustedIssuer(_ name: String) throws -> TrustedIssuerRecord? {
        guard !name.utf8.contains(0) else { return nil }
        return try queryOne("SELECT name, settings, created_at, updated_at FROM trusted_issuer WHERE name = $1", name) {
            try TrustedIssuerRecord($0)
        }
    }

    package func trustedIssuers(after name: String, limit: Int) throws -> [TrustedIssuerRecord] {
        try query(
            "SELECT name, settings, created_at, updated_at FROM trusted_issuer WHERE name > $1 ORDER BY name LIMIT $2", name, limit
        ) { try TrustedIssuerRecord($0) }
    }

    /// Creates or replaces a trusted issuer, and returns the stored record. An existing record keeps its creation time.
    ///
    /// - Throws: `TooManyTrustedIssuers`.
    package func put(_ issuer: TrustedIssuerRecord) throws -> TrustedIssuerRecord {
        if try trustedIssuer(issuer.name) == nil {
            let count = try queryOne("SELECT count(*) FROM trusted_issuer") { $0.int(0) } ?? 0
            let limit = TrustedIssuerRecord.maximumCount
            if count >= limit { throw TooManyTrustedIssuers(limit: Int64(limit)) }
        }
        try execute(
            """
            INSERT INTO trusted_issuer (name, settings, created_at, updated_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, updated_at = excluded.updated_at
            """, issuer.name, JSONValue.object(issuer.settings.json).text, issuer.createdAt, issuer.updatedAt)
        try advanceEpoch()
        return try trustedIssuer(issuer.name) ?? issuer
    }

    /// Deletes a trusted issuer. Returns `false` if it does not exist.
    package func deleteTrustedIssuer(_ name: String) throws -> Bool {
        guard try execute("DELETE FROM trusted_issuer WHERE name = $1", name) == 1 else { return false }
        try advanceEpoch()
        return true
    }
}

/// The tokens of issuers that allow each token once.
struct UsedWorkloadToken: Sendable {
    private let digest: [UInt8]
    private let expiresAt: Int64

    init(issuer: String, tokenId: String, expiresAt: Int64) {
        digest = Hash.sha256(Array("\(issuer)\n\(tokenId)".utf8))
        self.expiresAt = expiresAt
    }

    func isKnown(in tx: Transaction) throws -> Bool {
        try tx.queryOne("SELECT 1 FROM used_workload_token WHERE digest = $1", digest) { _ in true } ?? false
    }

    /// - Throws: `TokenReplayed` if the token was already used.
    func use(in tx: Transaction) throws {
        let isFirst =
            try tx.execute(
                "INSERT INTO used_workload_token (digest, expires_at) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING", digest, expiresAt)
            == 1
        if !isFirst { throw TokenReplayed() }
    }
}

extension ExpiryJob {
    /// Removes the records of used tokens that are no longer accepted.
    package static let usedWorkloadTokens = ExpiryJob(
        name: "used workload tokens",
        hasWork: { tx, now in
            try tx.queryOne("SELECT 1 FROM used_workload_token WHERE expires_at < $1 LIMIT 1", now) { _ in true } ?? false
        },
        remove: { tx, now, limit in
            try tx.execute(
                """
                DELETE FROM used_workload_token
                WHERE digest IN (SELECT t.digest FROM used_workload_token t WHERE t.expires_at < $1 LIMIT $2)
                """, now, limit)
        })
}
