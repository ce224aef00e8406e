/// A connection as transactions see it.
extension SQLiteConnection: Session {
    var connectionId: String {
        switch role {
        case .reader: ""
        case .writer(let id): id
        }
    }

    /// One connection writes at a time, so nobody can change what a write has read.
    func lock(_ ids: [String]) throws {}

    /// SQLite's data version changes when another connection has committed anything; only then the row is read again.
    func epoch() throws -> Int64 {
        if let mark = epochSeen.mark() ?? epochSeen.ofRead { return mark }
        let dataVersion = try dataVersion()
        if let known = epochSeen.epoch(at: dataVersion) {
            if isReader { epochSeen.ofRead = known }
            return known
        }
        guard let epoch = try integer("SELECT value FROM mintmark_meta WHERE name = 'epoch'") else {
            throw StoreError.corrupt(reason: "the store's epoch is missing")
        }
        epochSeen.remember(epoch, at: dataVersion)
        return epoch
    }

    /// Changes when another connection has committed anything; the same for all of a read transaction.
    private func dataVersion() throws -> Int64 {
        if let known = epochSeen.dataVersionOfRead { return known }
        let version = try integer("PRAGMA data_version") ?? 0
        if isReader { epochSeen.dataVersionOfRead = version }
        return version
    }

    /// A connection that only reads knows of every commit; what it has answered holds until the next one.
    func text(_ sql: SQL, _ parameters: [String]) throws -> String? {
        guard isReader else { return try freshText(sql, parameters) }
        return try knownTexts.text(sql, parameters, at: try dataVersion()) { try freshText(sql, parameters) }
    }

    func advanceEpoch() throws {
        try run("UPDATE mintmark_meta SET value = value + 1 WHERE name = 'epoch'")
        epochSeen.advance()
    }
}

/// What one connection knows of the store's epoch.
struct SeenEpoch {
    private var committed: (epoch: Int64, dataVersion: Int64)?
    private var isAdvanced = false
    private var lastMark: Int64 = -1
    /// The epoch of the read transaction that is open, once it was asked for: it cannot change in there.
    var ofRead: Int64?
    /// SQLite's data version in the read transaction that is open, once it was asked for.
    var dataVersionOfRead: Int64?

    /// In a transaction that has advanced the epoch: a number below zero that was never answered before. What is seen there may
    /// still be undone, also by the failure of another write, so nothing may be remembered under it.
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

    /// The transaction is over, kept or undone.
    mutating func settle() {
        isAdvanced = false
        ofRead = nil
        dataVersionOfRead = nil
    }
}
