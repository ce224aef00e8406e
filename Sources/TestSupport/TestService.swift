import Accounts
import Contract
import Loopback

/// The `test.*` methods, which are available on testing stores.
public struct TestService: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache
    let provider: TestProvider
    let hooks: TestHooks
    let snapshots = KeptSnapshots()

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache, provider: TestProvider, hooks: TestHooks) {
        self.context = context
        self.configurations = configurations
        self.provider = provider
        self.hooks = hooks
    }
}

/// The parts of the process that the testing methods use.
public struct TestHooks: Sendable {
    /// Every table of the store, in an order in which rows can be inserted.
    let tables: [String]
    /// Removes everything that has expired by now.
    let settle: @Sendable () throws -> Void
    /// Serves `compat.http` on a port of the loopback interface, any port if nil, and returns the base URL. With a Firebase
    /// project, the port serves its API too.
    let serveHTTP: @Sendable (TestHttp.Params) throws(LoopbackFailure) -> String
    /// Creates what a Firebase project needs in the store.
    let openFirebase: @Sendable (String, any CallContext) throws -> Void

    public init(
        tables: [String], settle: @escaping @Sendable () throws -> Void,
        serveHTTP: @escaping @Sendable (TestHttp.Params) throws(LoopbackFailure) -> String,
        openFirebase: @escaping @Sendable (String, any CallContext) throws -> Void
    ) {
        self.tables = tables
        self.settle = settle
        self.serveHTTP = serveHTTP
        self.openFirebase = openFirebase
    }

    /// The tables of a snapshot: all except the data key.
    var snapshotTables: [String] { tables.filter { $0 != "data_key" } }
}

extension TestService: TestHandlers {}
