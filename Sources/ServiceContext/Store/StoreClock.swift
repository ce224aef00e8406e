import Platform
import Storage

/// The clock of a testing store. It lives in the store, so that every process on it sees one time, but for one whose clock a test makes
/// jump.
public struct StoreClock: WallClock {
    private let database: any Database
    private let machine = SystemClock()
    private let faults: Faults?

    /// What it can show: up to the end of the year 9999.
    public static let range: ClosedRange<Int64> = 0...253_402_300_799
    /// What can be written down as a moment: one that the clock can show, or somewhat after it, such as the end of something.
    package static let moments: ClosedRange<Int64> = 0...(range.upperBound + 100_000)

    /// How the clock is set.
    package struct Setting: Sendable, Equatable {
        /// Where it stands still, nil while it runs.
        package var frozenAt: Int64?
        /// How far it is ahead of the machine's clock while it runs.
        package var offset: Int64 = 0

        package init(frozenAt: Int64? = nil, offset: Int64 = 0) {
            self.frozenAt = frozenAt
            self.offset = offset
        }

        package func now(_ machine: Int64) -> Int64 { frozenAt ?? machine + offset }
    }

    public init(_ database: any Database, _ faults: Faults? = nil) {
        self.database = database
        self.faults = faults
    }

    /// The time; the machine's own while the store cannot be read. Never to be asked for inside a transaction.
    public var now: Int64 {
        let setting = Patience.with(.full) { try? database.read { try $0.clockSetting() } }
        return (setting ?? Setting()).now(machine.now) + (faults?.clockJumpSeconds ?? 0)
    }

    /// Freezes the clock at `moment`, unless it was ever set. There it begins again when the store is reset.
    public func begin(at moment: Int64) throws {
        try database.write { tx in
            try tx.lock(["clock"])
            guard try tx.storeFact("clock.offset") == nil else { return }
            try tx.setStoreFact(Self.startFact, String(moment))
            try tx.setClock(Setting(frozenAt: moment))
        }
    }

    /// Where the clock of a store began that did not begin with the real time.
    package static let startFact = "clock.start"

    /// Sets the clock of a store that has no facts any more to where it began.
    package static func restart(at start: String?, in tx: Transaction) throws {
        guard let start, let moment = Int64(start), range ~= moment else { return }
        try tx.setStoreFact(startFact, start)
        try tx.setClock(Setting(frozenAt: moment))
    }

    /// Sets the clock to `moment`, from where it runs on, or where it stands still.
    package static func resume(at moment: Int64, isFrozen: Bool, machine: Int64, in tx: Transaction) throws {
        try tx.setClock(Setting(frozenAt: isFrozen ? moment : nil, offset: moment - machine))
    }

    /// Changes the setting and answers it with the time it shows.
    package func change(_ body: (Setting, _ machine: Int64) throws -> Setting) throws -> (setting: Setting, now: Int64) {
        let moment = machine.now
        let setting = try database.write { tx in
            try tx.lock(["clock"])
            let setting = try body(try tx.clockSetting(), moment)
            try tx.setClock(setting)
            return setting
        }
        return (setting, setting.now(moment))
    }

    package func read() throws -> (setting: Setting, now: Int64) {
        let setting = try database.read { try $0.clockSetting() }
        return (setting, setting.now(machine.now))
    }
}

extension Transaction {
    /// How the testing clock is set.
    package func clockSetting() throws -> StoreClock.Setting {
        StoreClock.Setting(
            frozenAt: try storeFact("clock.frozenAt").flatMap { Int64($0) },
            offset: try storeFact("clock.offset").flatMap { Int64($0) } ?? 0)
    }

    fileprivate func setClock(_ setting: StoreClock.Setting) throws {
        try setStoreFact("clock.frozenAt", setting.frozenAt.map { String($0) })
        try setStoreFact("clock.offset", String(setting.offset))
    }
}
