import ServiceContext
import Storage

/// A store whose writes a test can make fail. What the test's own methods write goes around it.
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

    /// Who may not wait is refused before anything is tried, and tries again.
    private func fail() throws {
        if Patience.current != .none, let error = faults.write() { throw error }
    }
}
