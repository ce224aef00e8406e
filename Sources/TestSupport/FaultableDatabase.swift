import ServiceContext
import Storage

/// A store with fault injection for writes. The `test.*` methods write to `driver`, without faults.
public struct FaultableDatabase: Database {
    public let driver: any Database
    private let faults: Faults

    public init(_ driver: any Database, _ faults: Faults) {
        self.driver = driver
        self.faults = faults
    }

    public func read<R>(_ body: (Transaction) throws -> R) throws -> R { try driver.read(body) }

    public func write<R>(isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
        try fail()
        return try driver.write(isolation: isolation, body)
    }

    public func tryToWrite() throws {
        try fail()
        try driver.tryToWrite()
    }

    public func facts() throws -> StoreFacts { try driver.facts() }

    public func close() { driver.close() }

    /// A thread that must not wait skips the fault: its write fails with `WouldWait` and is retried.
    private func fail() throws {
        if LockWaitPolicy.current != .none, let error = faults.write() { throw error }
    }
}
