import Contract
import Crypto
import JSON
import Loopback
import Platform
import Storage
import Testing

@testable import Accounts
@testable import IdentityPools
@testable import Mintmark
@testable import ServiceContext
@testable import SigningKeys
@testable import TestSupport

@Suite("tokens generated for tests")
struct TestTokenTests {
    private struct Call: CallContext {
        var trace: String? { nil }
        var isCancelled: Bool { false }
        var isPublicCaller: Bool { false }
        func progress(_ value: JSONValue) {}
    }

    private let database: SQLiteDatabase
    private let service: TestService

    init() throws {
        database = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        let context = ServiceContext(
            realm: Deployment(), database: database,
            vault: Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom()))
        let signingKeys = SigningKeys(vault: context.vault)
        let pools = PoolConfigurationCache(
            signingKeys: signingKeys, tenants: StoreTenantLogins(TenantConfigurationCache(signingKeys: signingKeys)), vault: context.vault,
            realm: context.realm)
        let accounts = AccountsContext(context)
        let tenants = TenantConfigurationCache(signingKeys: signingKeys)
        let service = AccountService(accounts, tenants, identities: PoolIdentities(pools))
        let host = TestProvider.Host(
            failures: ProviderFailures(named: { $0 as? any ContractError }, report: { _, _ in }),
            native: NativeAuthorization(challenge: { _, _, _ in LoopbackResponse(status: 404, text: "") }, redeem: { _ in .foreign }),
            documents: ClientDocumentSource { _, _ in .failed("The tests fetch no documents.") })
        let provider = TestProvider(accounts, tenants, accounts: service, host: host)
        self.service = TestService(
            accounts, tenants, provider: provider,
            hooks: TestHooks(
                tables: Schema.tables, settle: {}, serveHTTP: { _ throws(LoopbackFailure) in "http://127.0.0.1:9" },
                openFirebase: { _, _ in }))
    }

    /// The number of rows of each table that is not empty.
    private func rows() throws -> [String: Int64] { try database.read { try $0.rowCounts() }.filter { $0.value > 0 } }

    @Test("generating a token stores only the tenant's first signing key")
    func rowsOfAToken() throws {
        var expected = try rows()
        _ = try service.token(.init(subject: "alice", audience: "default"), Call())
        expected["signing_key"] = 1
        #expect(try rows() == expected)
        for state in [TestToken.Params.KeyState.active, .wrong, .unknown] {
            _ = try service.token(.init(subject: "alice", audience: "default", use: .access, keyState: state), Call())
        }
        #expect(try rows() == expected)
    }
}
