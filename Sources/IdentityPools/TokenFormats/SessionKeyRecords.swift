import Crypto
import Platform
import ServiceContext
import Storage

extension Transaction {
    func insert(_ key: SessionKeySetup.NewKey, at now: Int64) throws {
        try execute("INSERT INTO session_key (id, sealed, created_at) VALUES ($1, $2, $3)", Hex.encode(key.id), key.sealed, now)
    }

    /// Returns the key with this ID, or the newest one if `nil`.
    func sessionKey(_ id: [UInt8]?, vault: Vault) throws -> SessionKey? {
        let row = try queryOne(
            "SELECT id, sealed FROM session_key WHERE CAST($1 AS TEXT) IS NULL OR id = $1 ORDER BY created_at DESC, id LIMIT 1",
            id.map { Hex.encode($0) }
        ) { ($0.string(0), $0.bytes(1)) }
        guard let (hex, sealed) = row, let id = Hex.decode(hex) else { return nil }
        return SessionKey(id: id, bytes: try vault.open(sealed, as: "session_key \(hex)"))
    }
}

/// The keys that encrypt session tokens, cached for one store epoch.
struct SessionKeys: Sendable {
    private let vault: Vault
    private let keys = EpochCache<SessionKey>()

    init(vault: Vault) { self.vault = vault }

    /// Returns the key for new tokens.
    func current(in tx: Transaction) throws -> SessionSealer {
        let key = try keys.value(in: tx) { try tx.sessionKey(nil, vault: vault) }
        guard let key else { throw SealBroken(name: "session_key") }
        return SessionSealer(key)
    }

    /// Returns the key that encrypted `token`, or `nil` if this store does not have it.
    func key(of token: String, in tx: Transaction) throws -> SessionSealer? {
        guard let id = SessionSealer.keyId(of: token) else { return nil }
        return try keys.value(for: Hex.encode(id), in: tx) { try tx.sessionKey(id, vault: vault) }.map { SessionSealer($0) }
    }
}

extension Transaction {
    func hasSessionKey() throws -> Bool { try queryOne("SELECT COUNT(*) FROM session_key") { $0.int(0) } ?? 0 > 0 }
}
