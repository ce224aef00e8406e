import Crypto
import ServiceContext
import Storage

/// The signing keys of the store, kept open for one epoch.
public struct SigningKeys: Sendable {
    private let vault: Vault
    private let rings = EpochCache<KeyOwner, KeyRing>()
    private let owners = EpochCache<String, KeyOwner>(limit: 100_000)

    public init(vault: Vault) { self.vault = vault }

    /// The keys of `owner`; an empty ring if it has none.
    package func ring(of owner: KeyOwner, in tx: Transaction) throws -> KeyRing {
        try rings.value(for: owner, in: tx) {
            let ring = try tx.keyRing(of: owner, vault: vault)
            return ring.keys.isEmpty ? nil : ring
        } ?? KeyRing([])
    }

    /// The key `kid`, whoever owns it.
    func key(_ kid: String, in tx: Transaction) throws -> (key: StoredKey, ring: KeyRing)? {
        // A token's header may say anything; no key has such a name, and PostgreSQL cannot be asked for it.
        guard !kid.utf8.contains(0) else { return nil }
        guard let owner = try owners.value(for: kid, in: tx, load: { try tx.owner(ofKey: kid) }) else { return nil }
        let ring = try ring(of: owner, in: tx)
        return ring.keys.first { $0.kid == kid }.map { ($0, ring) }
    }
}
