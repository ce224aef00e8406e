import Crypto
import Platform
import ServiceContext
import Storage

/// Gives a new store the key that session tokens are sealed with, so that no reading method ever has to write one.
public enum SessionKeySetup {
    /// Whether the store has one. It is the last thing that a new store gets.
    public static func isDone(in database: any Database) throws -> Bool { try database.read { try $0.hasSessionKey() } }

    public static func ensure(in database: any Database, vault: Vault, random: any RandomSource, now: Int64) throws {
        if try database.read({ try $0.hasSessionKey() }) { return }
        let key = NewKey(random.bytes(40), vault: vault)
        try database.write { tx in
            try tx.lock(["session_key"])
            if try !tx.hasSessionKey() { try tx.insert(key, at: now) }
        }
    }

    /// A key on its way into the store.
    package struct NewKey: Sendable {
        let id: [UInt8]
        let sealed: [UInt8]

        /// - Parameter bytes: 40 random ones.
        package init(_ bytes: [UInt8], vault: Vault) {
            id = Array(bytes.prefix(8))
            sealed = vault.seal(SecretBytes(Array(bytes.dropFirst(8))), as: "session_key \(Hex.encode(id))")
        }
    }
}

extension Transaction {
    /// Nothing that was sealed before opens any more.
    package func replaceSessionKeys(with key: SessionKeySetup.NewKey) throws {
        try execute("DELETE FROM session_key")
        try insert(key, at: 0)
    }
}
