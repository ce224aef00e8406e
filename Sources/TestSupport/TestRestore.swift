import Accounts
import Contract
import ServiceContext

extension TestService {
    /// Replaces the contents of the store with a snapshot for all processes, and restores the state of this process's test provider.
    ///
    /// - Throws: `SnapshotNotFound`, `SnapshotUnusable`, `SnapshotVersionMismatch`, `SnapshotSealMismatch`.
    public func restore(_ request: TestRestore.Params, _ call: any CallContext) throws -> TestRestore.Result {
        let snapshot =
            switch request.place {
            case .name(let name): try snapshots.snapshot(name)
            case .file(let path): try SnapshotFile.read(path)
            }
        try snapshot.restore(in: context, provider, tables: hooks.snapshotTables)
        context.callbacks.turn()
        let (setting, now) = try VirtualClock(context.driver).read()
        return TestRestore.Result(rows: Int64(snapshot.rowCount), now: now, frozen: setting.frozenAt != nil)
    }
}
