/// The options with which a store is opened.
public struct OpeningOptions: Sendable {
    /// Whether missing steps of the schema are allowed to run.
    public var migrates: Bool
    /// Whether to create a missing store. Otherwise a missing store causes `StoreError.cannotOpen`.
    public var makesStore: Bool
    /// Whether to create the missing parent directories of a file.
    public var makesFolders: Bool
    /// Whether the store is only read. A SQLite file in a place that this user cannot write is then read without additional files.
    public var readsOnly: Bool
    /// The time limit for waiting for a lock or a free connection, and for repeating conflicting transactions, before `StoreError.busy`.
    public var waitMilliseconds: Int32

    public init(
        migrates: Bool = true, makesStore: Bool = true, makesFolders: Bool = false, readsOnly: Bool = false, waitMilliseconds: Int32 = 5_000
    ) {
        self.migrates = migrates
        self.makesStore = makesStore
        self.makesFolders = makesFolders
        self.readsOnly = readsOnly
        self.waitMilliseconds = waitMilliseconds
    }
}
