import Contract
import Crypto
import JSON
import Platform
import Storage
import Testing

@testable import Accounts
@testable import IdentityPools
@testable import Mintmark
@testable import Provisioning
@testable import ServiceContext
@testable import SigningKeys

/// A store in memory with a service that applies documents to it.
private struct House {
    struct Call: CallContext {
        var trace: String? { nil }
        var isCancelled: Bool { false }
        var isPublicCaller: Bool { false }
        func progress(_ value: JSONValue) {}
    }

    let context: ServiceContext

    init() throws {
        context = ServiceContext(
            realm: Deployment(), database: try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid()),
            vault: Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom()))
    }

    private var hooks: HooksService {
        HooksService(AccountsContext(context), TenantConfigurationCache(signingKeys: SigningKeys(vault: context.vault)))
    }

    func apply(_ document: String) throws -> [AppliedChange] {
        try ApplyService(context, hooks: hooks).apply(SystemApply.Params(decoding: JSONText(document).root), Call()).changes
    }

    /// The pointers and rules of the violations in a document.
    func problems(_ document: String) throws -> [String] {
        do {
            _ = try apply(document)
            return []
        } catch let error as InvalidParams { return error.violations.map { "\($0.pointer) \($0.rule)" } }
    }

    func writes() throws -> Int64 { try context.database.facts().writes }
}

@Suite("declarative configuration")
struct ApplyTests {
    @Test("applying a document twice writes only once")
    func idempotent() throws {
        let house = try House()
        let document = """
            {"pools": [{"name": "shop", "providers": [{"issuer": "https://id.example.com", "clientIds": ["a"]}],
                "principalTags": {"id.example.com": {"useDefaults": true}}}],
             "roles": [{"name": "reader", "poolName": "shop", "tags": {"b": "1", "a": "2"}}]}
            """
        #expect(try house.apply(document).map(\.change) == [.created, .created])
        let before = try house.writes()
        #expect(try house.apply(document).map(\.change) == [.unchanged, .unchanged])
        #expect(try house.writes() == before)
    }

    @Test(
        "changed members are reported, and omitted members get their defaults",
        arguments: [
            (#"{"name": "shop", "tags": {"a": "1"}}"#, [String]()), (#"{"name": "shop"}"#, ["tags"]),
            (#"{"name": "shop", "tags": {"a": "1"}, "allowUnauthenticated": true}"#, ["allowUnauthenticated"]),
            (#"{"name": "shop", "tags": {"a": "1"}, "developerProvider": "login.shop"}"#, ["developerProvider"]),
            (
                #"{"name": "shop", "tags": {"a": "1"}, "providers": [{"provider": "accounts.google.com", "clientIds": ["x"]}]}"#,
                ["providers"]
            ),
            (#"{"name": "shop", "tags": {"a": "1"}, "signingAlgorithm": "ES256"}"#, []),
        ])
    func differences(pool: String, changed: [String]) throws {
        let house = try House()
        _ = try house.apply(#"{"pools": [{"name": "shop", "tags": {"a": "1"}}]}"#)
        #expect(try house.apply(#"{"pools": [\#(pool)]}"#).map(\.changed) == [changed])
    }

    @Test("a pool name shared by several pools is ambiguous and requires an ID")
    func names() throws {
        let house = try House()
        let ids = ["local-1:00000000-0000-0000-0000-000000000001", "local-1:00000000-0000-0000-0000-000000000002"]
        #expect(
            try house.apply(#"{"pools": [{"poolId": "\#(ids[0])", "name": "twin"}, {"poolId": "\#(ids[1])", "name": "twin"}]}"#).map(
                \.poolId)
                == ids)
        #expect(try house.problems(#"{"pools": [{"name": "twin"}]}"#) == ["/pools/0/name ambiguousName"])
        #expect(try house.problems(#"{"roles": [{"name": "r", "poolName": "twin"}]}"#) == ["/roles/0/poolName poolNotFound"])
        #expect(
            try house.problems(#"{"pools": [{"name": "a"}, {"name": "a"}]}"#) == ["/pools/0/name duplicate", "/pools/1/name duplicate"])
        #expect(
            try house.problems(#"{"pools": [{"poolId": "\#(ids[0])", "name": "a"}, {"poolId": "\#(ids[0])", "name": "b"}]}"#)
                == ["/pools/1/poolId duplicate"])
        // One entry finds the pool by its current name, the other by its ID.
        _ = try house.apply(#"{"pools": [{"poolId": "\#(ids[0])", "name": "one"}]}"#)
        #expect(
            try house.problems(#"{"pools": [{"poolId": "\#(ids[0])", "name": "new"}, {"name": "one"}]}"#) == ["/pools/1/name duplicate"])
    }

    @Test("a violation prevents the whole document from being applied")
    func atomic() throws {
        let house = try House()
        let before = try house.writes()
        #expect(
            try house.problems(#"{"pools": [{"name": "good"}], "roles": [{"name": "bad", "poolName": "none"}]}"#)
                == ["/roles/0/poolName poolNotFound"])
        #expect(try house.writes() == before)
        #expect(try house.context.database.read { try $0.pools(after: "", limit: 10) }.isEmpty)
    }

    @Test("an error unrelated to the document is rethrown")
    func others() throws {
        let house = try House()
        house.context.database.close()
        #expect(throws: StoreError.closed) { try house.apply(#"{"pools": [{"name": "shop"}]}"#) }
    }
}
