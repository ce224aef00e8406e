import Contract
import ServiceContext
import Storage

extension StoreService {
    /// Writes a consistent copy of the store while it is in use.
    ///
    /// - Throws: `BackupNotHere`, `BackupFileExists`, `BackupFailed`, `RequestCancelled`.
    public func backup(_ request: StoreBackup.Params, _ call: any CallContext) throws -> StoreBackup.Result {
        guard let database = context.driver as? SQLiteDatabase else {
            throw BackupNotHere(
                reason: "it is in PostgreSQL. Use pg_dump --format=custom for a consistent copy, and pg_restore to restore it")
        }
        guard hasOutsideKey.withLock({ $0 }) else {
            throw BackupNotHere(reason: "its master key ends with this process. First set a master key with store.rekey")
        }
        let now = context.clock.now
        let version = try database.facts().schemaVersion
        do {
            let copy = try database.copy(
                to: request.path, suffix: context.random.uuid(), isCancelled: { call.isCancelled },
                noting: { try $0.masterFingerprint() ?? "" })
            guard let copy else { throw RequestCancelled() }
            return StoreBackup.Result(
                path: copy.path, bytes: copy.bytes, schemaVersion: Int64(version), masterFingerprint: copy.note, takenAt: now)
        } catch StoreCopyFailure.exists(let path) {
            throw BackupFileExists(path: path)
        } catch StoreCopyFailure.failed(let path, let reason) {
            throw BackupFailed(path: path, reason: reason)
        }
    }
}
