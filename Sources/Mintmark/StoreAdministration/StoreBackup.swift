import Contract
import Glibc
import Provisioning
import ServiceContext
import Storage

extension StoreService {
    /// Writes a consistent copy of the store while it is in use.
    ///
    /// - Throws: `BackupNotHere`, `BackupFileExists`, `BackupFailed`, `CopyNotVerified`, `RequestCancelled`.
    public func backup(_ request: StoreBackup.Params, _ call: any CallContext) throws -> StoreBackup.Result {
        try backup(request, call) { _, _ in }
    }

    /// Writes a consistent copy of the store while it is in use.
    ///
    /// - Parameter progress: Receives how many pages of a file or rows of a database are copied, and the number of all.
    /// - Throws: `BackupNotHere`, `BackupFileExists`, `BackupFailed`, `CopyNotVerified`, `RequestCancelled`.
    public func backup(
        _ request: StoreBackup.Params, _ call: any CallContext, progress: (_ done: Int64, _ total: Int64) -> Void
    ) throws -> StoreBackup.Result {
        guard hasOutsideKey.withLock({ $0 }) else {
            throw BackupNotHere(reason: "its master key ends with this process. First set a master key with store.rekey")
        }
        let now = context.clock.now
        let version = try context.driver.facts().schemaVersion
        do {
            let copy: (path: String, bytes: Int64, note: String)
            if let database = context.driver as? SQLiteDatabase {
                let done = try database.copy(
                    to: request.path, suffix: context.random.uuid(), isCancelled: { call.isCancelled }, progress: progress,
                    noting: { try $0.masterFingerprint() ?? "" })
                guard let done else { throw RequestCancelled() }
                copy = done
            } else {
                copy = try rowByRow(to: request.path, call, progress)
            }
            return StoreBackup.Result(
                path: copy.path, bytes: copy.bytes, schemaVersion: Int64(version), masterFingerprint: copy.note, takenAt: now)
        } catch StoreCopyFailure.exists(let path) {
            throw BackupFileExists(path: path)
        } catch StoreCopyFailure.failed(let path, let reason) {
            throw BackupFailed(path: path, reason: reason)
        }
    }

    /// Writes the rows of a store that is not a file into a new file.
    private func rowByRow(
        to path: String, _ call: any CallContext, _ progress: (_ done: Int64, _ total: Int64) -> Void
    ) throws -> (path: String, bytes: Int64, note: String) {
        var status = stat()
        if lstat(path, &status) == 0 { throw StoreCopyFailure.exists(path: path) }
        let draft = "\(path).\(context.random.uuid()).part"
        defer { for end in ["", "-wal", "-shm", "-journal"] { unlink(draft + end) } }
        let target: SQLiteDatabase
        do {
            target = try SQLiteDatabase(.file(draft), migrations: Schema.migrations, connectionId: context.random.uuid())
        } catch let error as StoreError {
            switch error {
            case .cannotOpen(_, let reason), .readOnly(let reason): throw StoreCopyFailure.failed(path: path, reason: reason)
            default: throw error
            }
        }
        let fingerprint: String
        do {
            defer { target.close() }
            let copy = RowCopy(from: context.driver, to: target, tables: Schema.tables)
            guard
                let copied = try copy.run(progress: { done, total in
                    progress(done, total)
                    if call.isCancelled { throw RequestCancelled() }
                })
            else {
                throw StoreCopyFailure.exists(path: path)
            }
            try StoreCopying.verify(copy, copied, in: target, context.vault, at: path)
            try copy.finish()
            fingerprint = try target.read { try $0.masterFingerprint() } ?? ""
        }
        let published = try SQLiteDatabase.publish(draft, as: path)
        return (published.path, published.bytes, fingerprint)
    }
}
