import Crypto
import Messages
import Network
import Platform
import ServiceContext
import Storage

/// The configuration of a Mintmark service, as set by the command-line options.
public struct Configuration: Sendable {
    /// The location of the store.
    public enum Store: Sendable, Hashable {
        /// In memory; the data is lost when the process exits.
        case memory
        /// A SQLite file, which several processes can share.
        case file(String)
        /// A PostgreSQL database, which several machines can share.
        case postgres(PostgresAddress)
    }

    public var store: Store
    /// The maximum number of open connections to a PostgreSQL server.
    public var databaseConnections: Int
    public var realm: Deployment
    /// Whether the store is a testing store, which has a virtual clock. This is fixed when the store is created.
    public var testing: Bool
    /// Whether only methods that verify a token, code or password are offered.
    public var publicCaller: Bool
    /// The key that encrypts the store's data key. If `nil`, the key file next to the store is used. PostgreSQL stores have no key file and
    /// require this key.
    public var masterKey: MasterKey?
    /// The file from which `masterKey` was read, if any.
    public var masterKeyFile: String?
    /// Whether issuing a token for a known identity adds an audit record.
    public var auditsIssuance: Bool
    /// The retention period of audit records, in days, or `nil` to keep them permanently.
    public var auditRetentionDays: Int?
    /// The file to which the heads of the audit log are appended, or `nil`.
    public var auditHeadsFile: String?
    /// Whether a store of an older version is migrated.
    public var migrates: Bool
    /// Whether missing parent directories of the store file are created. If `false`, opening fails, so that a mistyped path is detected.
    public var makesFolders: Bool
    /// Whether a missing store is created and an incompletely initialized store is completed.
    public var makesStores: Bool
    /// Whether the store is only read, so that a file on a read-only medium can be opened.
    public var readsOnly = false
    /// The initial time of a testing store, in seconds since 1970-01-01 UTC. The clock is then frozen.
    public var clock: Int64?
    /// The options for requests to other machines.
    public var outgoing: CurlClient.Options
    /// The settings for sending email, or `nil` to send none. A testing store captures messages instead.
    public var mail: MailSettings?
    /// The webhook that delivers messages, or `nil`.
    public var webhook: WebhookEndpoint?

    public init(
        store: Store, realm: Deployment? = nil, testing: Bool = false, publicCaller: Bool = false, masterKey: MasterKey? = nil,
        auditsIssuance: Bool = false, auditRetentionDays: Int? = nil, migrates: Bool = true, makesFolders: Bool = false,
        makesStores: Bool = true, clock: Int64? = nil, databaseConnections: Int = 4, outgoing: CurlClient.Options = .init(),
        mail: MailSettings? = nil, webhook: WebhookEndpoint? = nil
    ) {
        self.store = store
        self.databaseConnections = databaseConnections
        self.realm = realm ?? Deployment(issuer: testing ? "https://testing.mintmark.localhost" : "https://mintmark.localhost")
        self.testing = testing
        self.publicCaller = publicCaller
        self.masterKey = masterKey
        self.auditsIssuance = auditsIssuance
        self.auditRetentionDays = auditRetentionDays
        self.migrates = migrates
        self.makesFolders = makesFolders
        self.makesStores = makesStores
        self.clock = clock
        self.outgoing = outgoing
        self.mail = mail
        self.webhook = webhook
    }
}

extension Configuration {
    /// The key file next to the store, or `nil` if the key is configured or the store is not a file.
    public var keyFile: MasterKeyFile? {
        if case .file(let path) = store, masterKey == nil { MasterKeyFile(path: path + ".key") } else { nil }
    }
}

extension Configuration.Store: CustomStringConvertible {
    /// The location of the store, without passwords.
    public var description: String {
        switch self {
        case .memory: ":memory:"
        case .file(let path): path
        case .postgres(let address): address.description
        }
    }

    /// Whether every access waits for another process.
    var isRemote: Bool { if case .postgres = self { true } else { false } }
}
