import Crypto
import Messages
import Network
import Platform
import ServiceContext
import Storage

/// How a Mintmark is set up: what the command line's flags say.
public struct Configuration: Sendable {
    /// Where everything is kept.
    public enum Store: Sendable, Hashable {
        /// Gone with the process.
        case memory
        /// A SQLite file, which several processes may share.
        case file(String)
        /// A PostgreSQL database, which many machines may share.
        case postgres(PostgresAddress)
    }

    public var store: Store
    /// How many connections to a PostgreSQL server may be open at once.
    public var databaseConnections: Int
    public var realm: Realm
    /// A testing store's clock can be turned. It is one from its creation, or never.
    public var testing: Bool
    /// Whether only what proves itself by tokens, codes or passwords is offered.
    public var publicCaller: Bool
    /// The key that seals the store; nil: the file beside the store. PostgreSQL has no such place, and needs one given.
    public var masterKey: MasterKey?
    /// The file that `masterKey` was read from, if it was in one.
    public var masterKeyFile: String?
    /// Whether minting for a known identity leaves an audit record.
    public var auditsIssuance: Bool
    /// How many days audit records are kept; nil: for good.
    public var auditRetentionDays: Int?
    /// The file to which the heads of the audit log are appended; nil: none.
    public var auditHeadsFile: String?
    /// Whether a store of an older version is brought up to date.
    public var migrates: Bool
    /// Whether the folders of a store's file are made where they are missing. Without it a mistyped path is refused.
    public var makesFolders: Bool
    /// Whether a store is made where there is none, and one whose making was cut off is finished.
    public var makesStores: Bool
    /// Where a testing store's clock begins, in seconds since 1970, frozen.
    public var clock: Int64?
    /// How other machines are reached.
    public var outgoing: CurlClient.Options
    /// How mails to people are sent; nil: not at all. A testing store keeps them instead.
    public var mail: MailSettings?
    /// Who is posted messages to send; nil: nobody.
    public var webhook: WebhookEndpoint?

    public init(
        store: Store, realm: Realm? = nil, testing: Bool = false, publicCaller: Bool = false, masterKey: MasterKey? = nil,
        auditsIssuance: Bool = false, auditRetentionDays: Int? = nil, migrates: Bool = true, makesFolders: Bool = false,
        makesStores: Bool = true, clock: Int64? = nil, databaseConnections: Int = 4, outgoing: CurlClient.Options = .init(),
        mail: MailSettings? = nil, webhook: WebhookEndpoint? = nil
    ) {
        self.store = store
        self.databaseConnections = databaseConnections
        self.realm = realm ?? Realm(issuer: testing ? "https://testing.mintmark.localhost" : "https://mintmark.localhost")
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
    /// The file beside the store that holds its master key; nil where the key is given, or there is no such place.
    public var keyFile: MasterKeyFile? {
        if case .file(let path) = store, masterKey == nil { MasterKeyFile(path: path + ".key") } else { nil }
    }
}

extension Configuration.Store: CustomStringConvertible {
    /// Where it is, without passwords.
    public var description: String {
        switch self {
        case .memory: ":memory:"
        case .file(let path): path
        case .postgres(let address): address.description
        }
    }

    /// Whether every look at it waits for another process.
    var isRemote: Bool { if case .postgres = self { true } else { false } }
}
