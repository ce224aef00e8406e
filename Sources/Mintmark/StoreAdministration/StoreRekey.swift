import Contract
import Crypto
import JSON
import ServiceContext
import Storage

extension StoreService {
    /// Encrypts the store's data key with a new master key.
    ///
    /// A crash at any point leaves a key file that opens the store. Before the commit, the key in the key file opens it, and a pending file
    /// contains an unused key. After the commit, the pending key opens it, and the next start finds it. The pending file is synced before
    /// the commit. It replaces the key file in a write transaction that has read the new fingerprint, so concurrent processes do not undo
    /// each other's changes. The former key is kept, because earlier backups need it.
    ///
    /// - Throws: `NewMasterKeyNeeded`, `InvalidMasterKey`; `StoreCannotOpen` if the key file cannot be written.
    public func rekey(_ request: StoreRekey.Params, _ call: any CallContext) throws -> StoreRekey.Result {
        let key = try newKey(request.newMasterKey)
        let (random, now) = (context.random, context.clock.now)
        let (salt, suffix) = (random.bytes(Vault.saltCount), random.uuid())
        return try hasOutsideKey.withLock { hasOutsideKey in
            let previous: String
            do {
                previous = try context.database.write { tx in
                    try tx.lock(["data_key"])
                    try keyFile?.prepare(key, suffix)
                    let previous = try tx.rewrapDataKey(of: context.vault, under: key, salt: salt)
                    let details: JSONObject = ["masterFingerprint": .string(key.fingerprint), "previousFingerprint": .string(previous)]
                    try context.audit.record(
                        AuditEvent(method: StoreRekey.info.name, by: call, details: details), at: now, in: tx)
                    return previous
                }
            } catch {
                _ = try? settleKeyFile(abandoned: key.fingerprint)
                throw error
            }
            hasOutsideKey = true
            // The data key is now encrypted with the new key, whether or not the key file can be replaced.
            let file = try? settleKeyFile(abandoned: key.fingerprint)
            return StoreRekey.Result(
                masterFingerprint: key.fingerprint, previousFingerprint: previous, keyFile: file ?? keyFile?.waitingPath(key.fingerprint),
                previousKeyFile: keyFile?.file(holding: previous))
        }
    }

    private func settleKeyFile(abandoned: String) throws -> String? {
        guard let keyFile else { return nil }
        return try context.database.write { tx in try tx.masterFingerprint().map { keyFile.settle(on: $0, abandoned: abandoned) } }
    }

    private func newKey(_ text: String?) throws -> MasterKey {
        guard let text else {
            guard keyFile != nil else { throw NewMasterKeyNeeded() }
            return MasterKey.generate(context.random)
        }
        do { return try MasterKey(text: text) } catch { throw InvalidMasterKey(reason: error.reason) }
    }
}
