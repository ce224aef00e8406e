import Contract
import Crypto
import Storage

/// The store's data key: sealed by the master key, it seals everything else.
public enum DataKey {
    /// What the store holds.
    struct Record: Sendable {
        let id: String
        let masterFingerprint: String
        let sealed: [UInt8]
    }

    /// Opens the store's data key, or makes one for a new store. Two processes that start at once agree on one.
    ///
    /// - Parameters:
    ///   - isTesting: whether the data key of a new store comes from the master key. Testing stores under one master key can take over
    ///     each other's snapshots.
    ///   - masterKey: asked for when it is known whether there is a data key to open, with the fingerprint that it needs.
    /// - Throws: `MasterKeyMissing`, `MasterKeyWrong`, and what the store throws.
    public static func open(
        in database: any Database, isTesting: Bool = false, random: any RandomSource, now: Int64,
        masterKey: (_ fingerprint: String?) throws -> MasterKey
    ) throws -> SecretBytes {
        if var record = try database.read({ try $0.dataKey() }) {
            while true {
                let master = try masterKey(record.masterFingerprint)
                if master.fingerprint == record.masterFingerprint { return try unseal(record, with: master) }
                // Another process may just have put the store under another key.
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
    /// The fingerprint of the master key that the store's data key is sealed under, nil in a store that has none yet.
    public func masterFingerprint() throws -> String? { try dataKey()?.masterFingerprint }

    /// Seals the store's data key under another master key.
    ///
    /// - Returns: the fingerprint of the one before.
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
