import Crypto
import Platform
import ServiceContext
import Storage

/// Creates the key for session tokens in a new store, so that read-only methods never have to write one.
public enum SessionKeySetup {
    /// Returns whether the store has a key. The key is created last in the setup of a store.
    public static func isDone(in database: any Database) throws -> Bool { try database.read { try $0.hasSessionKey() } }

    public static func ensure(in database: any Database, vault: Vault, random: any RandomSource, now: Int64) throws {
        if try database.read({ try $0.hasSessionKey() }) { return }
        let key = NewKey(random.bytes(40), vault: vault)
        try database.write { tx in
            try tx.lock(["session_key"])
            if try !tx.hasSessionKey() { try tx.insert(key, at: now) }
        }
    }

    /// A new key, before it is stored.
    package struct NewKey: Sendable {
        let id: [UInt8]
        let sealed: [UInt8]

        /// - Parameter bytes: 40 random bytes.
        package init(_ bytes: [UInt8], vault: Vault) {
            id = Array(bytes.prefix(8))
            sealed = vault.seal(SecretBytes(Array(bytes.dropFirst(8))), as: "session_key \(Hex.encode(id))")
        }
    }
}

extension Transaction {
    /// Replaces all session keys. Existing session tokens become invalid.
    package func replaceSessionKeys(with key: SessionKeySetup.NewKey) throws {
        try execute("DELETE FROM session_key")
        try insert(key, at: 0)
    }
}
