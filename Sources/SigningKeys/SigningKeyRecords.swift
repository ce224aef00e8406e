import Crypto
import JSON
import ServiceContext
import Storage

/// A generated key that is not yet stored.
package struct NewSigningKey: Sendable {
    package let kid: String
    let owner: KeyOwner
    let algorithm: Crypto.SigningAlgorithm
    let jwk: String
    let sealed: [UInt8]
    let activeAt: Int64

    /// Generates a key. Generating an RSA key takes at least 0.1 seconds.
    package init(for owner: KeyOwner, algorithm: Crypto.SigningAlgorithm, activeAt: Int64, _ context: ServiceContext) throws {
        let key = try PrivateKey.generate(algorithm, from: context.random)
        let jwk = key.jwk
        var writer = JSONWriter()
        jwk.write(to: &writer)
        kid = jwk.keyID
        self.owner = owner
        self.algorithm = algorithm
        self.jwk = String(decoding: writer.bytes, as: UTF8.self)
        sealed = context.vault.seal(key.pkcs8, as: "signing_key \(kid)")
        self.activeAt = activeAt
    }
}

extension Transaction {
    package func insert(_ key: NewSigningKey, at now: Int64) throws {
        try execute(
            """
            INSERT INTO signing_key (kid, owner, algorithm, jwk, sealed, created_at, active_at, position)
            VALUES ($1, $2, $3, $4, $5, $6, $7, (SELECT COALESCE(MAX(position), 0) + 1 FROM signing_key WHERE owner = $2))
            """, key.kid, key.owner.path, key.algorithm.rawValue, key.jwk, key.sealed, now, key.activeAt)
    }

    /// Returns the owner of the key `kid`.
    func owner(ofKey kid: String) throws -> KeyOwner? {
        try queryOne("SELECT owner FROM signing_key WHERE kid = $1", kid) { KeyOwner(path: $0.string(0)) } ?? nil
    }

    package func keyOwners() throws -> [KeyOwner] {
        try query("SELECT DISTINCT owner FROM signing_key ORDER BY owner") { KeyOwner(path: $0.string(0)) }.compactMap { $0 }
    }

    /// Returns all keys of `owner`, decrypted.
    package func keyRing(of owner: KeyOwner, vault: Vault) throws -> KeyRing {
        // Only a testing store has a seed; its signatures are reproducible.
        let repeats = try seed() != nil
        return KeyRing(
            try query(
                "SELECT kid, algorithm, sealed, created_at, active_at, revoked_at, position FROM signing_key WHERE owner = $1", owner.path
            ) { row in
                let kid = row.string(0)
                guard let algorithm = Crypto.SigningAlgorithm(rawValue: row.string(1)) else { throw SealBroken(name: "signing_key \(kid)") }
                let pkcs8 = try vault.open(row.bytes(2), as: "signing_key \(kid)")
                return StoredKey(
                    kid: kid, owner: owner, algorithm: algorithm, createdAt: row.int(3), activeAt: row.int(4),
                    revokedAt: row.optionalInt(5), position: row.int(6),
                    privateKey: try PrivateKey(pkcs8: pkcs8, algorithm: algorithm, repeats: repeats))
            })
    }

    /// Revokes a key. Returns `false` if it was already revoked.
    func revokeKey(_ kid: String, at now: Int64) throws -> Bool {
        try execute("UPDATE signing_key SET revoked_at = $2 WHERE kid = $1 AND revoked_at IS NULL", kid, now) == 1
    }

    /// Makes a key active now.
    func activateKey(_ kid: String, at now: Int64) throws {
        try execute("UPDATE signing_key SET active_at = $2 WHERE kid = $1", kid, now)
    }

    /// Deletes the keys of an owner that are not yet active; of an account, those with the algorithm.
    func deleteNextKeys(of owner: KeyOwner, _ algorithm: Crypto.SigningAlgorithm, at now: Int64) throws {
        try execute(
            """
            DELETE FROM signing_key
            WHERE owner = $1 AND active_at > $2 AND revoked_at IS NULL AND (owner NOT LIKE 'accounts/%' OR algorithm = $3)
            """, owner.path, now, algorithm.rawValue)
    }

    package func deleteKeys(of owner: KeyOwner) throws { try execute("DELETE FROM signing_key WHERE owner = $1", owner.path) }
}
