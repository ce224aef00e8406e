import Contract
import ServiceContext
import Storage

extension SystemService {
    /// Returns information about this process and its store.
    func info(_ request: SystemInfo.Params, _ call: any CallContext) throws -> SystemInfo.Result {
        let configuration = mintmark.configuration
        let facts = try mintmark.services().context.database.facts()
        return SystemInfo.Result(
            name: "mintmark", version: Mintmark.version, schemaVersion: Int64(facts.schemaVersion),
            storeKind: .init(rawValue: facts.kind.rawValue) ?? .sqlite, testing: configuration.testing, issuer: configuration.realm.issuer,
            region: configuration.realm.region, account: configuration.realm.account,
            caller: configuration.publicCaller ? .public : .developer,
            methods: Int64(Contract.MethodTable.all.count { MethodRegistry.isOffered($0, by: configuration) }),
            startedAt: mintmark.startedAt)
    }
}
