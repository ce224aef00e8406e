import Accounts
import Contract
import Storage

extension Snapshot {
    /// - Throws: `SnapshotVersionMismatch`, `SnapshotSealMismatch`.
    func check(against context: AccountsContext, tables names: [String]) throws {
        let version = try context.driver.facts().schemaVersion
        guard schemaVersion == version else { throw SnapshotVersionMismatch(found: Int64(schemaVersion), supported: Int64(version)) }
        guard seal == Self.seal(of: context.vault) else { throw SnapshotSealMismatch() }
    }

    /// - Throws: `SnapshotUnusable` if the tables differ from those of the store, and the errors of the store.
    func check(columnsIn tx: Transaction, tables names: [String]) throws {
        guard tables.map(\.name) == names else { throw SnapshotUnusable(reason: "its tables differ from the tables of this store") }
        for table in tables where Set(try tx.columns(of: table.name)) != Set(table.columns) {
            throw SnapshotUnusable(reason: "the columns of its table \(table.name) differ from the columns of this store")
        }
    }
}
