import Contract
import Crypto
import JSON
import ServiceContext
import Storage

extension StoreService {
    /// Puts the store under another master key.
    ///
    /// What can be killed where: before the commit the key in the file opens the store, and one too many waits beside it. After the
    /// commit the one that waits opens it, and the next start finds it there. It waits, synced, before there is anything to commit; it
    /// takes the file's place inside a write transaction that has seen the store under it. So no two processes undo each other's work.
    /// The former key stays beside it, since earlier backups need it.
    ///
    /// - Throws: `NewMasterKeyNeeded`, `InvalidMasterKey`, `StoreCannotOpen` if the key's file cannot be written.
    public func rekey(_ request: StoreRekey.Params, _ call: any CallContext) throws -> StoreRekey.Result {
        let key = try newKey(request.newMasterKey)
        let (random, now) = (surroundings.random, surroundings.clock.now)
        let (salt, suffix) = (random.bytes(Vault.saltCount), random.uuid())
        return try hasOutsideKey.withLock { hasOutsideKey in
            let previous: String
            do {
                previous = try surroundings.database.write { tx in
                    try tx.lock(["data_key"])
                    try keyFile?.prepare(key, suffix)
                    let previous = try tx.rewrapDataKey(of: surroundings.vault, under: key, salt: salt)
                    let details: JSONObject = ["masterFingerprint": .string(key.fingerprint), "previousFingerprint": .string(previous)]
                    try surroundings.audit.record(
                        AuditEvent(method: StoreRekey.info.name, trace: call.trace, details: details), at: now, in: tx)
                    return previous
                }
            } catch {
                _ = try? settleKeyFile(abandoned: key.fingerprint)
                throw error
            }
            hasOutsideKey = true
            // The store is under the new key by now, whatever becomes of the file.
            let file = try? settleKeyFile(abandoned: key.fingerprint)
            return StoreRekey.Result(
                masterFingerprint: key.fingerprint, previousFingerprint: previous, keyFile: file ?? keyFile?.waitingPath(key.fingerprint),
                previousKeyFile: keyFile?.file(holding: previous))
        }
    }

    private func settleKeyFile(abandoned: String) throws -> String? {
        guard let keyFile else { return nil }
        return try surroundings.database.write { tx in try tx.masterFingerprint().map { keyFile.settle(on: $0, abandoned: abandoned) } }
    }

    private func newKey(_ text: String?) throws -> MasterKey {
        guard let text else {
            guard keyFile != nil else { throw NewMasterKeyNeeded() }
            return MasterKey.generate(surroundings.random)
        }
        do { return try MasterKey(text: text) } catch { throw InvalidMasterKey(reason: error.reason) }
    }
}
