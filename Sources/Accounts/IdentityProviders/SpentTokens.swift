import Contract
import Crypto
import ServiceContext
import Storage

/// The record of a used ID token with a nonce, which prevents a second use.
struct UsedToken: Sendable, Equatable {
    let digest: [UInt8]
    let providerId: String
    /// The time until which the token would be accepted.
    let expiresAt: Int64

    /// - Parameter payload: The signed bytes. The same payload with another signature is the same token.
    init(_ payload: [UInt8], _ idp: IdpRecord, expiresAt: Int64) {
        digest = Hash.sha256(Array("\(idp.tenantId)/\(idp.providerId)/".utf8) + payload)
        providerId = idp.providerId
        self.expiresAt = expiresAt
    }
}

/// A single-use credential, marked as used in the transaction of the operation it is for.
enum SingleUseGuard: Sendable {
    case idToken(UsedToken)
    case flow(IdpFlow)
}

/// The table of used ID tokens.
package enum SpentTokenTables {
    package static let statements: [SQL] = [
        "CREATE TABLE spent_token (digest BYTEA PRIMARY KEY, expires_at BIGINT NOT NULL)",
        "CREATE INDEX spent_token_expires ON spent_token (expires_at)",
    ]
}

extension Transaction {
    /// - Throws: `InvalidNonce` or `FlowUsed` if the credential was already used.
    func spend(_ spending: SingleUseGuard) throws {
        switch spending {
        case .idToken(let token): try spend(token)
        case .flow(let flow): guard try move(flow, from: flow.stage, to: .used, sealed: nil) else { throw FlowUsed() }
        }
    }

    private func spend(_ token: UsedToken) throws {
        let isFirst =
            try execute(
                "INSERT INTO spent_token (digest, expires_at) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING", token.digest,
                token.expiresAt) == 1
        guard isFirst else {
            throw InvalidNonce(
                providerId: token.providerId, check: "replayed",
                reason: "The ID token was already used. Use the pending token of that response, or get a new ID token from the provider.")
        }
    }
}

extension ExpiryJob {
    /// Removes the records of ID tokens that have expired.
    package static let spentTokens = ExpiryJob(
        name: "spent ID tokens",
        hasWork: { tx, now in try tx.queryOne("SELECT 1 FROM spent_token WHERE expires_at < $1 LIMIT 1", now) { _ in true } ?? false },
        remove: { tx, now, limit in
            try tx.execute(
                "DELETE FROM spent_token WHERE digest IN (SELECT s.digest FROM spent_token s WHERE s.expires_at < $1 LIMIT $2)", now, limit)
        })
}
