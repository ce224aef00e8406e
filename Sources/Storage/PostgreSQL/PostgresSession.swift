/// The state of the open transaction of a connection.
struct PostgresTransactionState {
    enum Mode: Equatable {
        case none
        case read
        case write
    }

    var mode = Mode.none
    /// Whether the transaction has inserted, updated or deleted rows.
    var hasWritten = false
    var hasAdvancedEpoch = false
    var glance: StoreEpoch.EpochSnapshot?
    /// The epoch, after it was first read in this transaction.
    var epoch: Int64?
}

/// The operations that a connection provides to transactions.
extension PostgresConnection: Session {
    var connectionId: String { transaction.mode == .write ? name : "" }

    func run(_ sql: SQL, _ parameters: [any SQLValue], row: (Row) throws -> RowDemand) throws -> Int {
        let result = try run(sql, parameters)
        if result.command != "SELECT" { transaction.hasWritten = true }
        for index in 0..<result.rowCount {
            result.row = index
            if try row(Row(source: result)) == .enough { break }
        }
        return result.changes
    }

    /// Takes an advisory lock for each ID until the end of the transaction. `FOR UPDATE` is not suitable: the locked ID is often the name
    /// of a row that does not exist yet, and can belong to any table. After waiting, the transaction sees the changes that the previous
    /// holder committed. The locks are taken in numeric order, which prevents deadlocks. IDs with the same lock number only cause
    /// unnecessary waits.
    func lock(_ ids: [String]) throws {
        for number in Set(ids.map(Self.lockNumber)).sorted() {
            _ = try run("SELECT pg_advisory_xact_lock($1)", [number]) { _ in .enough }
        }
    }

    func keepUnchanged(_ query: SQL) throws { _ = try run(query, []) { _ in .more } }

    /// Returns the FNV-1a hash of the ID, which is the same in every process and version.
    static func lockNumber(_ id: String) -> Int64 {
        Int64(bitPattern: id.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 })
    }

    func epoch() throws -> Int64 {
        if transaction.hasAdvancedEpoch { return epochs.newMark() }
        if let epoch = transaction.epoch ?? transaction.glance?.epoch { return epoch }
        var found: Int64?
        _ = try run("SELECT value FROM mintmark_meta WHERE name = 'epoch'", []) {
            found = $0.int(0)
            return .enough
        }
        guard let found else { throw StoreError.corrupt(reason: "the store's epoch is missing") }
        transaction.epoch = found
        if let glance = transaction.glance { epochs.keep(found, since: glance) }
        return found
    }

    func advanceEpoch() throws {
        _ = try run("UPDATE mintmark_meta SET value = value + 1 WHERE name = 'epoch'", []) { _ in .more }
        // The server sends the notification with the commit. One per transaction is enough.
        if !transaction.hasAdvancedEpoch { _ = try run("SELECT pg_notify('mintmark_epoch', '')", []) { _ in .more } }
        transaction.hasAdvancedEpoch = true
    }
}
