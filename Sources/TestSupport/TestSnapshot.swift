import Contract
import Platform
import ServiceContext

extension TestService {
    /// Takes a snapshot of the store, in memory or in a file.
    ///
    /// - Throws: `TooManySnapshots`, `SnapshotFileExists`, `SnapshotNotWritten`.
    public func snapshot(_ request: TestSnapshot.Params, _ call: any CallContext) throws -> TestSnapshot.Result {
        let snapshot = try Snapshot.take(of: context, provider, tables: hooks.snapshotTables)
        var result = TestSnapshot.Result(rows: Int64(snapshot.rowCount), now: snapshot.now, frozen: snapshot.isFrozen)
        switch request.place {
        case .file(let path):
            result.file = path
            result.bytes = try Self.write(SnapshotFile.bytes(of: snapshot), to: path)
        case .name(let name): result.name = try snapshots.keep(snapshot, as: name)
        case nil: result.name = try snapshots.keep(snapshot, as: nil)
        }
        return result
    }

    private static func write(_ bytes: [UInt8], to path: String) throws -> Int64 {
        do {
            let file = try ExportFile(path, suffix: "\(Monotonic.nanoseconds())")
            try file.write(bytes)
            return try file.finish()
        } catch let error as ExportFileExists { throw SnapshotFileExists(path: error.path) } catch let error as ExportFailed {
            throw SnapshotNotWritten(path: error.path, reason: error.reason)
        }
    }
}
