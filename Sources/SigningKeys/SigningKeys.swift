import Crypto
import ServiceContext
import Storage

/// The signing keys of the store, cached in decrypted form for one store epoch.
public struct SigningKeys: Sendable {
    private let vault: Vault
    private let rings = EpochCache<KeyRing>()
    private let keys = EpochCache<(key: StoredKey, ring: KeyRing)>()

    public init(vault: Vault) { self.vault = vault }

    /// Returns the keys of `owner`; an empty ring if it has none.
    package func ring(of owner: KeyOwner, in tx: Transaction) throws -> KeyRing {
        try rings.value(for: owner.path, in: tx) {
            let ring = try tx.keyRing(of: owner, vault: vault)
            return ring.keys.isEmpty ? nil : ring
        } ?? KeyRing([])
    }

    /// Returns the key `kid` of any owner, with the key ring of its owner.
    func key(_ kid: String, in tx: Transaction) throws -> (key: StoredKey, ring: KeyRing)? {
        // A token header can contain any `kid`. PostgreSQL cannot process U+0000, and no key ID contains it.
        guard !kid.utf8.contains(0) else { return nil }
        return try keys.value(for: kid, in: tx) {
            guard let owner = try tx.owner(ofKey: kid) else { return nil }
            let ring = try ring(of: owner, in: tx)
            return ring.keys.first { $0.kid == kid }.map { ($0, ring) }
        }
    }
}
