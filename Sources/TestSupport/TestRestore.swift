import Accounts
import Contract
import ServiceContext

extension TestService {
    /// Puts a snapshot in the place of all that the store holds, for every process on it, and of what this process's provider
    /// for tests knows.
    ///
    /// - Throws: `SnapshotNotFound`, `SnapshotUnusable`, `SnapshotVersionMismatch`, `SnapshotSealMismatch`.
    public func restore(_ request: TestRestore.Params, _ call: any CallContext) throws -> TestRestore.Result {
        let snapshot =
            switch request.place {
            case .name(let name): try snapshots.snapshot(name)
            case .file(let path): try SnapshotFile.read(path)
            }
        try snapshot.restore(in: surroundings, provider, tables: hooks.snapshotTables)
        surroundings.callbacks.turn()
        let (setting, now) = try StoreClock(surroundings.driver).read()
        return TestRestore.Result(rows: Int64(snapshot.rowCount), now: now, frozen: setting.frozenAt != nil)
    }
}
