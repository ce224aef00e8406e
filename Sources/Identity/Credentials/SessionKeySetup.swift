import Crypto
import Platform
import Storage

/// Gives a new store the key that session tokens are sealed with, so that no reading method ever has to write one.
public enum SessionKeySetup {
    /// Whether the store has one. It is the last thing that a new store gets.
    public static func isDone(in database: any Database) throws -> Bool { try database.read { try $0.hasSessionKey() } }

    public static func ensure(in database: any Database, vault: Vault, random: any RandomSource, now: Int64) throws {
        if try database.read({ try $0.hasSessionKey() }) { return }
        let id = random.bytes(8)
        let sealed = vault.seal(SecretBytes(random.bytes(32)), as: "session_key \(Hex.encode(id))")
        try database.write { tx in
            try tx.lock(["session_key"])
            if try !tx.hasSessionKey() { try tx.insertSessionKey(id: id, sealed: sealed, at: now) }
        }
    }
}
