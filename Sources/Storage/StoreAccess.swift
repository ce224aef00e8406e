/// How one call uses the store: whether it can wait, and the view that it shares with other calls of its batch.
public struct StoreAccess: Sendable {
    /// Whether a call can wait for the store. The reading thread and the computing threads should not: a handler that has to write there
    /// returns the rest of its work, which runs on a thread that can wait. The store itself does not refuse such work. A read waits at most
    /// for the commit of a store in memory, or for another process that recovers a file.
    public enum Waiting: Sendable {
        case allowed
        case refused
        /// The call can wait, and has already decided, in a read transaction, that it must write. That decision is skipped, because the
        /// write transaction decides again.
        case allowedToWrite
    }

    public let waiting: Waiting
    /// The view in which the call reads, or `nil` if every read begins a transaction of its own.
    let view: SharedView?

    public init(_ waiting: Waiting, view: SharedView? = nil) {
        self.waiting = waiting
        self.view = view
    }

    /// The access of code that can wait and shares no view.
    public static let patient = StoreAccess(.allowed)

    public var mayWait: Bool {
        if case .refused = waiting { false } else { true }
    }

    /// Whether this is the access of code that can wait and shares no view.
    public var isPatient: Bool {
        if case .allowed = waiting, view == nil { true } else { false }
    }

    /// Whether a decision in a read transaction is skipped.
    public var decidesInWrite: Bool {
        if case .allowedToWrite = waiting { true } else { false }
    }
}

/// A store with the access of one call, which applies to every transaction that names no other access.
public struct StoreHandle: Database {
    private let database: any Database
    public let access: StoreAccess

    public init(_ database: any Database, _ access: StoreAccess) {
        self.database = database
        self.access = access
    }

    public var driver: any Database { database.driver }

    /// Returns the same store with another access.
    public func with(_ access: StoreAccess) -> StoreHandle { StoreHandle(database, access) }

    public func read<R>(_ access: StoreAccess, _ body: (Transaction) throws -> R) throws -> R { try database.read(access, body) }

    public func write<R>(_ access: StoreAccess, isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
        try database.write(access, isolation: isolation, body)
    }

    public func tryToWrite() throws { try database.tryToWrite() }
    public func facts() throws -> StoreFacts { try database.facts() }
    public var beginning: StoreBeginning { database.beginning }
    public func close() { database.close() }
}
