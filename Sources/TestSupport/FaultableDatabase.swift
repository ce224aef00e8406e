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

    public func read<R>(_ access: StoreAccess, _ body: (Transaction) throws -> R) throws -> R { try driver.read(access, body) }

    public func write<R>(_ access: StoreAccess, isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
        try fail()
        return try driver.write(access, isolation: isolation, body)
    }

    public func tryToWrite() throws {
        try fail()
        try driver.tryToWrite()
    }

    public func facts() throws -> StoreFacts { try driver.facts() }
    public var beginning: StoreBeginning { driver.beginning }

    public func close() { driver.close() }

    private func fail() throws {
        if let error = faults.write() { throw error }
    }
}
