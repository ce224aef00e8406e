import Platform
import Storage

/// The virtual clock of a testing store. Its setting is in the store, so that all processes on the store have the same time. An injected
/// clock fault applies to one process only.
public struct VirtualClock: WallClock {
    private let database: any Database
    private let machine = SystemClock()
    private let faults: Faults?
    private let lastRead = LastReadSetting()

    /// The range of the clock, up to the end of the year 9999.
    public static let range: ClosedRange<Int64> = 0...253_402_300_799
    /// The range of stored times: the range of the clock plus a margin for expiry times.
    package static let moments: ClosedRange<Int64> = 0...(range.upperBound + 100_000)

    /// The setting of the clock.
    package struct Setting: Sendable, Equatable {
        /// The time at which the clock is frozen, or `nil` if it runs.
        package var frozenAt: Int64?
        /// The difference from the machine's clock while the clock runs, in seconds.
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

    /// The current time. If the store cannot be read twice in a row, the setting that this process read last applies: the time of a testing
    /// store must not jump to the machine's time because a disk fails. One failure, such as a failed allocation, must not lead to the last
    /// setting, because another process may have moved the clock since. Must not be read inside a transaction.
    public var now: Int64 {
        let setting = lastRead.setting { try database.read { try $0.clockSetting() } }
        return setting.now(machine.now) + (faults?.clockJumpSeconds ?? 0)
    }

    /// Freezes the clock at `moment`, unless it was set before. A reset of the store returns the clock to this time.
    public func begin(at moment: Int64) throws {
        try database.write { tx in
            try tx.lock(["clock"])
            guard try tx.storeFact("clock.offset") == nil else { return }
            try tx.setStoreFact(Self.startFact, String(moment))
            try tx.setClock(Setting(frozenAt: moment))
        }
    }

    /// The name of the store fact with the initial time of the clock.
    package static let startFact = "clock.start"

    /// Sets the clock of a store that was cleared to its initial time.
    package static func restart(at start: String?, in tx: Transaction) throws {
        guard let start, let moment = Int64(start), range ~= moment else { return }
        try tx.setStoreFact(startFact, start)
        try tx.setClock(Setting(frozenAt: moment))
    }

    /// Sets the clock to `moment`, frozen or running.
    package static func resume(at moment: Int64, isFrozen: Bool, machine: Int64, in tx: Transaction) throws {
        try tx.setClock(Setting(frozenAt: isFrozen ? moment : nil, offset: moment - machine))
    }

    /// Changes the setting and returns it with the resulting time.
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

/// The setting of the clock that a process has read last.
private final class LastReadSetting: Sendable {
    private let last = UnfairLock(VirtualClock.Setting())

    /// Returns the setting that `read` returns, or the last one if it fails twice.
    func setting(_ read: () throws -> VirtualClock.Setting) -> VirtualClock.Setting {
        guard let setting = (try? read()) ?? (try? read()) else { return last.withLock { $0 } }
        last.withLock { $0 = setting }
        return setting
    }
}

extension Transaction {
    /// Returns the setting of the virtual clock.
    package func clockSetting() throws -> VirtualClock.Setting {
        VirtualClock.Setting(
            frozenAt: try storeFact("clock.frozenAt").flatMap { Int64($0) },
            offset: try storeFact("clock.offset").flatMap { Int64($0) } ?? 0)
    }

    fileprivate func setClock(_ setting: VirtualClock.Setting) throws {
        try setStoreFact("clock.frozenAt", setting.frozenAt.map { String($0) })
        try setStoreFact("clock.offset", String(setting.offset))
    }
}
