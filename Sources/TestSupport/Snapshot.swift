import Accounts
import Crypto
import Platform
import ServiceContext
import Storage

/// The state of a testing store at one time: the rows of all tables except the data key, which is not copied, and the state of the test
/// provider of this process.
struct Snapshot: Sendable {
    /// A table with all its rows. Each row has a value for every column.
    struct Table: Sendable {
        let name: String
        let columns: [TableColumn]
        var rows: [[SQLParameter]]
    }

    let schemaVersion: Int
    /// Identifies the data key that encrypts the encrypted values.
    let seal: String
    /// The time of the store's clock.
    let now: Int64
    let isFrozen: Bool
    var tables: [Table]
    var provider = ProviderSnapshot()

    /// Takes a snapshot of the store.
    ///
    /// - Throws: The errors of the store.
    static func take(of context: AccountsContext, _ provider: TestProvider, tables names: [String]) throws -> Snapshot {
        let (schemaVersion, machine) = (try context.driver.facts().schemaVersion, SystemClock().now)
        return try context.driver.read { tx in
            let setting = try tx.clockSetting()
            var snapshot = Snapshot(
                schemaVersion: schemaVersion, seal: seal(of: context.vault), now: setting.now(machine),
                isFrozen: setting.frozenAt != nil, tables: [], provider: provider.snapshot)
            for name in names {
                var table = Table(name: name, columns: try tx.columns(of: name), rows: [])
                try tx.copyRows(of: name, table.columns) { table.rows.append($0) }
                snapshot.tables.append(table)
            }
            return snapshot
        }
    }

    /// Returns a value that identifies the data key without revealing it.
    static func seal(of vault: Vault) -> String {
        Hex.encode(HMAC.sha256(key: vault.subkey("snapshot"), Array("mintmark snapshot".utf8)).prefix(8))
    }

    var rowCount: Int { tables.reduce(0) { $0 + $1.rows.count } }

    /// Replaces the contents of the store in one transaction, and restores the test provider of this process. All processes on the store
    /// see the change.
    ///
    /// - Throws: `SnapshotVersionMismatch`, `SnapshotSealMismatch`, `SnapshotUnusable`, and the errors of the store.
    func restore(in context: AccountsContext, _ provider: TestProvider, tables names: [String]) throws {
        try check(against: context, tables: names)
        let (id, machine) = (SystemRandom().uuid(), SystemClock().now)
        try context.driver.write { tx in
            try tx.lock(["clock", "outbox", "seed", "session_key", "testing"])
            try tx.advanceEpoch()
            try tx.keepOthersOut(of: names)
            try check(columnsIn: tx, tables: names)
            try tx.empty(names)
            for table in tables { try tx.insert(into: table.name, table.columns, table.rows) }
            // The new ID closes open credentials providers, which refer to the previous contents.
            try tx.setTestingMark(true, id: id)
            try tx.beginEvents()
            try VirtualClock.resume(at: now, isFrozen: isFrozen, machine: machine, in: tx)
        }
        provider.resume(self.provider)
    }
}
