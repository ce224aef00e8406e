import Accounts
import Crypto
import Platform
import ServiceContext
import Storage

/// A testing store at one moment: every row of every table but the data key, which stays with its store, and what the provider for tests
/// of this process knows.
struct Snapshot: Sendable {
    /// A table with all its rows; each has a value for each of the columns.
    struct Table: Sendable {
        let name: String
        let columns: [TableColumn]
        var rows: [[SQLParameter]]
    }

    let schemaVersion: Int
    /// Tells the data key that seals what is sealed in here.
    let seal: String
    /// What the store's clock showed.
    let now: Int64
    let isFrozen: Bool
    var tables: [Table]
    var provider = ProviderSnapshot()

    /// Takes one.
    ///
    /// - Throws: what the store throws.
    static func take(of surroundings: AccountsContext, _ provider: TestProvider, tables names: [String]) throws -> Snapshot {
        let (schemaVersion, machine) = (try surroundings.driver.facts().schemaVersion, SystemClock().now)
        return try surroundings.driver.read { tx in
            let setting = try tx.clockSetting()
            var snapshot = Snapshot(
                schemaVersion: schemaVersion, seal: seal(of: surroundings.vault), now: setting.now(machine),
                isFrozen: setting.frozenAt != nil, tables: [], provider: provider.snapshot)
            for name in names {
                var table = Table(name: name, columns: try tx.columns(of: name), rows: [])
                try tx.copyRows(of: name, table.columns) { table.rows.append($0) }
                snapshot.tables.append(table)
            }
            return snapshot
        }
    }

    /// Tells data keys apart, and says nothing of them.
    static func seal(of vault: Vault) -> String {
        Hex.encode(HMAC.sha256(key: vault.subkey("snapshot"), Array("mintmark snapshot".utf8)).prefix(8))
    }

    var rowCount: Int { tables.reduce(0) { $0 + $1.rows.count } }

    /// Puts it in the place of all that the store holds, in one transaction, and tells every process on it. The provider of this process
    /// goes on from what it knew.
    ///
    /// - Throws: `SnapshotVersionMismatch`, `SnapshotSealMismatch`, `SnapshotUnusable`, what the store throws.
    func restore(in surroundings: AccountsContext, _ provider: TestProvider, tables names: [String]) throws {
        try check(against: surroundings, tables: names)
        let (id, machine) = (SystemRandom().uuid(), SystemClock().now)
        try surroundings.driver.write { tx in
            try tx.lock(["clock", "outbox", "seed", "session_key", "testing"])
            try tx.advanceEpoch()
            try tx.keepOthersOut(of: names)
            try check(columnsIn: tx, tables: names)
            try tx.empty(names)
            for table in tables { try tx.insert(into: table.name, table.columns, table.rows) }
            // Credentials providers that a process keeps open know of what was there before.
            try tx.setTestingMark(true, id: id)
            try StoreClock.resume(at: now, isFrozen: isFrozen, machine: machine, in: tx)
        }
        provider.resume(self.provider)
    }
}
