import Contract
import Crypto
import Storage

/// The data key of the store. The master key encrypts it, and it encrypts all other secrets.
public enum DataKey {
    /// The stored data key.
    struct Record: Sendable {
        let id: String
        let masterFingerprint: String
        let sealed: [UInt8]
    }

    /// Decrypts the store's data key, or creates one for a new store. Two processes that start concurrently use the same key.
    ///
    /// - Parameters:
    ///   - isTesting: Whether the data key of a new store is derived from the master key. Testing stores with the same master key can
    ///     restore each other's snapshots.
    ///   - masterKey: Returns the master key. Its argument is the fingerprint of the required key, or `nil` for a new store.
    /// - Throws: `MasterKeyMissing`, `MasterKeyWrong`, and the errors of the store.
    public static func open(
        in database: any Database, isTesting: Bool = false, random: any RandomSource, now: Int64,
        masterKey: (_ fingerprint: String?) throws -> MasterKey
    ) throws -> SecretBytes {
        if var record = try database.read({ try $0.dataKey() }) {
            while true {
                let master = try masterKey(record.masterFingerprint)
                if master.fingerprint == record.masterFingerprint { return try unseal(record, with: master) }
                // Another process may just have encrypted the data key with a new master key.
                guard let later = try database.read({ try $0.dataKey() }), later.masterFingerprint != record.masterFingerprint else {
                    return try unseal(record, with: master)
                }
                record = later
            }
        }
        let master = try masterKey(nil)
        let id = random.uuid()
        let key = isTesting ? master.testingDataKey : random.bytes(32)
        let sealed = Vault.seal(key, with: master.bytes, as: name(of: id), salt: random.bytes(Vault.saltCount))
        let fresh = Record(id: id, masterFingerprint: master.fingerprint, sealed: sealed)
        let agreed = try database.write { tx in
            try tx.lock(["data_key"])
            if let earlier = try tx.dataKey() { return earlier }
            try tx.insert(fresh, at: now)
            return fresh
        }
        return try unseal(agreed, with: master)
    }

    private static func unseal(_ record: Record, with master: MasterKey) throws -> SecretBytes {
        guard record.masterFingerprint == master.fingerprint else {
            throw MasterKeyWrong(fingerprint: record.masterFingerprint, given: master.fingerprint)
        }
        return try Vault.open(record.sealed, with: master.bytes, as: name(of: record.id))
    }

    fileprivate static func name(of id: String) -> String { "data_key \(id)" }
}

extension Transaction {
    /// Returns the fingerprint of the master key that encrypts the data key, or `nil` if the store has no data key yet.
    public func masterFingerprint() throws -> String? { try dataKey()?.masterFingerprint }

    /// Encrypts the store's data key with another master key.
    ///
    /// - Returns: The fingerprint of the previous master key.
    package func rewrapDataKey(of vault: Vault, under master: MasterKey, salt: [UInt8]) throws -> String {
        guard let record = try dataKey() else { throw SealBroken(name: "data_key") }
        try execute(
            "UPDATE data_key SET sealed = $2, master_fingerprint = $3 WHERE id = $1", record.id,
            vault.dataKey(under: master, as: DataKey.name(of: record.id), salt: salt), master.fingerprint)
        return record.masterFingerprint
    }

    fileprivate func dataKey() throws -> DataKey.Record? {
        try queryOne("SELECT id, master_fingerprint, sealed FROM data_key ORDER BY created_at DESC, id LIMIT 1") {
            DataKey.Record(id: $0.string(0), masterFingerprint: $0.string(1), sealed: $0.bytes(2))
        }
    }

    fileprivate func insert(_ record: DataKey.Record, at now: Int64) throws {
        try execute(
            "INSERT INTO data_key (id, master_fingerprint, sealed, created_at) VALUES ($1, $2, $3, $4)",
            record.id, record.masterFingerprint, record.sealed, now)
    }
}
