/// The operations that a connection provides to transactions.
extension SQLiteConnection: Session {
    var connectionId: String {
        switch role {
        case .reader: ""
        case .writer(let id): id
        }
    }

    /// Does nothing: only one connection writes at a time, so rows that a write has read cannot change.
    func lock(_ ids: [String]) throws {}

    /// Does nothing, as `lock`.
    func keepUnchanged(_ query: SQL) throws {}

    /// Returns the epoch. The row is read again only if SQLite's data version has changed, which is the case after a commit by another
    /// connection.
    func epoch() throws -> Int64 {
        if let mark = epochSeen.mark() ?? epochSeen.ofTransaction { return mark }
        let dataVersion = try dataVersion()
        if let known = epochSeen.epoch(at: dataVersion) {
            epochSeen.ofTransaction = known
            return known
        }
        guard let epoch = try integer("SELECT value FROM mintmark_meta WHERE name = 'epoch'") else {
            throw StoreError.corrupt(reason: "the store's epoch is missing")
        }
        epochSeen.remember(epoch, at: dataVersion)
        return epoch
    }

    /// Returns SQLite's data version, which changes when another connection commits and is constant during a transaction.
    private func dataVersion() throws -> Int64 {
        if let known = epochSeen.dataVersionOfTransaction { return known }
        let version = try integer("PRAGMA data_version") ?? 0
        epochSeen.dataVersionOfTransaction = version
        return version
    }

    /// A read-only connection detects every commit by the data version; cached results are valid until the next commit.
    func text(_ sql: SQL, _ parameters: [String]) throws -> String? {
        guard isReader else { return try freshText(sql, parameters) }
        return try knownTexts.text(sql, parameters, at: try dataVersion()) { try freshText(sql, parameters) }
    }

    func advanceEpoch() throws {
        try run("UPDATE mintmark_meta SET value = value + 1 WHERE name = 'epoch'")
        epochSeen.advance()
    }
}

/// The store's epoch as one connection last read it.
struct SeenEpoch {
    private var committed: (epoch: Int64, dataVersion: Int64)?
    private var isAdvanced = false
    private var lastMark: Int64 = -1
    /// The epoch of the open transaction, after it was first read. It is constant until the transaction advances it.
    var ofTransaction: Int64?
    /// SQLite's data version in the open transaction, after it was first read.
    var dataVersionOfTransaction: Int64?

    /// Returns a negative number that has not been returned before, if the transaction has advanced the epoch; otherwise `nil`. Data seen
    /// in such a transaction can still be rolled back, also by the failure of another write, so it must not be cached.
    mutating func mark() -> Int64? {
        guard isAdvanced else { return nil }
        lastMark -= 1
        return lastMark
    }

    func epoch(at dataVersion: Int64) -> Int64? { committed.flatMap { $0.dataVersion == dataVersion ? $0.epoch : nil } }

    mutating func remember(_ epoch: Int64, at dataVersion: Int64) { committed = (epoch, dataVersion) }

    mutating func advance() {
        isAdvanced = true
        committed = nil
    }

    /// Clears the state of a transaction that was committed or rolled back.
    mutating func settle() {
        isAdvanced = false
        ofTransaction = nil
        dataVersionOfTransaction = nil
    }
}
