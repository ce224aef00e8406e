import Accounts
import Contract
import Crypto
import JSON
import Platform
import Storage
import Synchronization
import Testing

@testable import IdentityPools
@testable import Mintmark
@testable import ServiceContext
@testable import SigningKeys

@Suite("reads of credentials.get")
struct CredentialsReadsTests {
    /// A store that counts its read transactions.
    private final class CountingDatabase: Database {
        private let store: SQLiteDatabase
        let reads = Atomic<Int>(0)

        init() throws {
            store = try SQLiteDatabase(.memory, migrations: Schema.migrations, connectionId: SystemRandom().uuid())
        }

        func read<R>(_ access: StoreAccess, _ body: (Transaction) throws -> R) throws -> R {
            reads.add(1, ordering: .relaxed)
            return try store.read(access, body)
        }

        func write<R>(_ access: StoreAccess, isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
            try store.write(access, isolation: isolation, body)
        }

        func tryToWrite() throws { try store.tryToWrite() }
        func facts() throws -> StoreFacts { try store.facts() }
        var beginning: StoreBeginning { store.beginning }
        func close() { store.close() }
    }

    private func decoded<P: ContractParams>(_: P.Type, _ text: String) throws -> P { try P(decoding: JSONText(text).root) }

    @Test("a token is exchanged for credentials in one read transaction, and so is a token for a given role")
    func oneRead() throws {
        let database = try CountingDatabase()
        let random = SystemRandom()
        let context = ServiceContext(
            realm: Deployment(), database: database, vault: Vault(dataKey: SecretBytes(random.bytes(32)), random: random))
        try SessionKeySetup.ensure(in: database, vault: context.vault, random: random, now: context.clock.now)
        let signingKeys = SigningKeys(vault: context.vault)
        let pools = PoolConfigurationCache(
            signingKeys: signingKeys, tenants: StoreTenantLogins(TenantConfigurationCache(signingKeys: signingKeys)), vault: context.vault,
            realm: context.realm)
        let call = InProcessCall()
        let pool = try PoolService(context, pools).create(
            decoded(PoolCreate.Params.self, #"{"name": "shop", "allowUnauthenticated": true, "allowClassicFlow": true}"#), call)
        let trust = """
            {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Federated": "cognito-identity.amazonaws.com"}, \
            "Action": "sts:AssumeRoleWithWebIdentity", \
            "Condition": {"StringEquals": {"cognito-identity.amazonaws.com:aud": "\(pool.poolId)"}}}]}
            """
        let role = try RoleService(context, pools).put(
            decoded(RolePut.Params.self, #"{"name": "guest", "trustPolicy": \#(trust)}"#), call)
        _ = try PoolService(context, pools).setRoles(
            decoded(PoolSetRoles.Params.self, #"{"poolId": "\#(pool.poolId)", "roles": {"unauthenticated": "\#(role.roleArn)"}}"#), call)
        let identity = try IdentityService(context, pools).resolve(
            decoded(IdentityResolve.Params.self, #"{"poolId": "\#(pool.poolId)"}"#), call)
        let token = try PoolTokens(context, pools).mint(
            decoded(TokenMint.Params.self, #"{"identityId": "\#(identity.identityId)"}"#), call
        ).token
        let service = CredentialsService(context, pools)

        var before = database.reads.load(ordering: .relaxed)
        let given = try service.get(decoded(CredentialsGet.Params.self, #"{"token": "\#(token)"}"#), call)
        #expect(given.roleArn == role.roleArn)
        #expect(database.reads.load(ordering: .relaxed) - before == 1)

        before = database.reads.load(ordering: .relaxed)
        let request = #"{"token": "\#(token)", "roleArn": "\#(role.roleArn)", "sessionName": "test"}"#
        #expect(try service.assumeRole(decoded(CredentialsAssumeRole.Params.self, request), call).subject == identity.identityId)
        #expect(database.reads.load(ordering: .relaxed) - before == 1)
    }
}
