import Accounts
import IdentityPools
import ServiceContext
import Storage
import VendorAPIs

/// The database schema as a sequence of migrations. The statements are the same for SQLite and PostgreSQL.
public enum Schema {
    /// The names of all tables of the newest version.
    public static var tables: [String] { migrations.flatMap(\.tables) }

    /// The version to which stores are migrated.
    public static let version = migrations.last?.version ?? 0

    public static let migrations: [Migration] = [
        Migration(
            version: 1,
            statements: [
                "CREATE TABLE store_fact (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
                """
                CREATE TABLE data_key (
                    id TEXT PRIMARY KEY, master_fingerprint TEXT NOT NULL, sealed BYTEA NOT NULL, created_at BIGINT NOT NULL)
                """,
                """
                CREATE TABLE pool (
                    id TEXT PRIMARY KEY, name TEXT NOT NULL, allow_unauthenticated BOOLEAN NOT NULL, allow_classic_flow BOOLEAN NOT NULL,
                    developer_provider TEXT, signing_algorithm TEXT NOT NULL, tags TEXT NOT NULL,
                    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                """,
                """
                CREATE TABLE pool_role (
                    pool_id TEXT NOT NULL REFERENCES pool (id) ON DELETE CASCADE, kind TEXT NOT NULL, role_name TEXT NOT NULL,
                    PRIMARY KEY (pool_id, kind))
                """,
                """
                CREATE TABLE identity (
                    id TEXT PRIMARY KEY, pool_id TEXT NOT NULL REFERENCES pool (id) ON DELETE CASCADE, state TEXT NOT NULL,
                    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                """,
                "CREATE INDEX identity_of_pool ON identity (pool_id, id)",
                """
                CREATE TABLE login (
                    pool_id TEXT NOT NULL, provider TEXT NOT NULL, subject TEXT NOT NULL,
                    identity_id TEXT NOT NULL REFERENCES identity (id) ON DELETE CASCADE, linked_at BIGINT NOT NULL,
                    PRIMARY KEY (pool_id, provider, subject))
                """,
                "CREATE INDEX login_of_identity ON login (identity_id)",
                """
                CREATE TABLE signing_key (
                    kid TEXT PRIMARY KEY, owner TEXT NOT NULL, algorithm TEXT NOT NULL, jwk TEXT NOT NULL, sealed BYTEA NOT NULL,
                    position BIGINT NOT NULL, created_at BIGINT NOT NULL, active_at BIGINT NOT NULL, revoked_at BIGINT)
                """,
                "CREATE INDEX signing_key_of_owner ON signing_key (owner, active_at)",
                """
                CREATE TABLE role (
                    name TEXT PRIMARY KEY, role_id TEXT NOT NULL, trust_policy TEXT NOT NULL, max_session_seconds BIGINT NOT NULL,
                    tags TEXT NOT NULL,
                    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                """,
                "CREATE TABLE session_key (id TEXT PRIMARY KEY, sealed BYTEA NOT NULL, created_at BIGINT NOT NULL)",
                """
                CREATE TABLE revocation (
                    kind TEXT NOT NULL, target TEXT NOT NULL, issued_before BIGINT NOT NULL, recorded_at BIGINT NOT NULL,
                    expires_at BIGINT NOT NULL, PRIMARY KEY (kind, target))
                """,
                """
                CREATE TABLE audit (
                    chain TEXT NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, method TEXT NOT NULL, trace TEXT,
                    pool_id TEXT, identity_id TEXT, subject TEXT, details TEXT NOT NULL, mac BYTEA NOT NULL, PRIMARY KEY (chain, number))
                """,
                "CREATE INDEX audit_at ON audit (at, chain, number)",
            ]),
        Migration(
            version: 2,
            statements: [
                "ALTER TABLE pool ADD COLUMN providers TEXT NOT NULL DEFAULT '[]'",
                "ALTER TABLE pool ADD COLUMN role_mappings TEXT NOT NULL DEFAULT '{}'",
                "ALTER TABLE pool ADD COLUMN tag_maps TEXT NOT NULL DEFAULT '{}'",
                "CREATE INDEX audit_anchor ON audit (chain, number) WHERE number = 1 OR method = 'audit.checkpoint'",
            ] + TenantTables.statements + PeopleTables.statements + OutboxTables.statements + SessionTables.statements
                + CredentialsProviderTables.statements + ClientTables.statements + IdpTables.statements + AccountLoginTables.statements
                + SpentTokenTables.statements + FactorTables.statements + IdpFlowTables.statements
                + MergedAccountTables.statements + OwnSessionTables.statements + SendClaimTables.statements),
        Migration(
            version: 3, statements: SessionTables.audience + NoticeTables.statements + LoginTable.coveringIndex,
            sqliteStatements: LoginTable.withoutRowid),
        Migration(version: 4, statements: VendorTables.statements),
        Migration(version: 5, statements: PasskeyTables.statements + PasskeyCeremonyTables.statements),
        Migration(version: 6, statements: ApplicationTables.statements),
        Migration(version: 7, statements: HookTables.statements),
        Migration(version: 8, statements: ActionCodeTables.statements),
        Migration(version: 9, statements: PasskeyTables.metadata),
        Migration(version: 10, statements: TrustedIssuerTables.statements),
        Migration(version: 11, statements: SecurityEventTables.statements + EventStreamTables.statements),
        Migration(version: 12, statements: ClientSecretTables.statements + IdpFlowTables.application),
        Migration(version: 13, statements: AgentTables.statements),
        Migration(version: 14, statements: EventStreamTables.delivery),
        Migration(version: 15, statements: AuditPositions.statements),
        Migration(version: 16, statements: AccountOrder.indexes + AuditFilter.indexes),
    ]
}
