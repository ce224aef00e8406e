import Arguments
import Logging

/// The options that select and configure the store; the same for every command.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The name of the application whose store is used: <data directory>/mintmark/<name>.db.", valueName: "name"))
    var app: String?

    @Option(
        help: ArgumentHelp(
            "The path of the database file (its directory must exist), :memory: for a store that ends with the process, or postgres://user@host/database.",
            valueName: "path"), completion: .file())
    var store: String?

    @Option(help: ArgumentHelp("The base URL of every issuer. It must be an https URL.", valueName: "url"))
    var issuer: String?

    @Option(help: "The first part of pool and identity IDs. (default: local-1)")
    var region: String?

    @Option(help: "The account number in ARNs. (default: 000000000000)")
    var account: String?

    @Option(
        help: ArgumentHelp(
            "The path of a file with the master key, 32 bytes in base64url or hexadecimal. Required for PostgreSQL. (default: <store>.key)",
            valueName: "path"), completion: .file())
    var masterKeyFile: String?

    @Option(
        help:
            "The access level of the caller: developer for all methods, or public for methods that require a token, code or password. (default: developer)",
        completion: .list(["developer", "public"]))
    var caller: String?

    @Flag(help: "Use a testing store, which has a virtual clock.")
    var testing = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The initial time of a new testing store's virtual clock, in seconds since 1970-01-01 UTC.", valueName: "seconds"))
    var clock: Int64?

    @Flag(help: "Also record tokens minted for existing identities in the audit log.")
    var auditIssuance = false

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The age at which audit records are removed. (default: keep all)", valueName: "days"))
    var auditRetentionDays: Int?

    @Option(
        help: ArgumentHelp(
            "Append the heads of the audit log to this file, as audit.verify takes them; made for its owner alone.", valueName: "file"),
        completion: .file())
    var auditHeadsFile: String?

    @Option(help: "Whether an older store is brought up to date: auto or never. (default: auto)", completion: .list(["auto", "never"]))
    var migrate: String?

    @Option(parsing: .unconditional, help: "The maximum number of connections to a PostgreSQL server. (default: 4)")
    var dbConnections: Int?

    @Option(
        help: ArgumentHelp(
            "The path of a file of additional trusted certificates (PEM), for identity providers, mail servers and webhooks.",
            valueName: "path"),
        completion: .file())
    var caFile: String?

    @Option(
        help: ArgumentHelp(
            "The HTTP proxy for requests to identity providers, such as http://proxy.example:3128. (default: none)", valueName: "url"))
    var proxy: String?

    @Option(
        help: "The lowest level that is logged: trace, debug, info, notice, warning, error or critical. (default: info)",
        completion: .list(Logger.Level.allCases.map(\.rawValue)))
    var logLevel: String?

    @OptionGroup(title: "Mail") var delivery: DeliveryOptions

    var properties: [(name: String, property: CommandProperty)]? {
        [
            ("app", _app), ("store", _store), ("issuer", _issuer), ("region", _region), ("account", _account),
            ("masterKeyFile", _masterKeyFile), ("caller", _caller), ("testing", _testing), ("clock", _clock),
            ("auditIssuance", _auditIssuance), ("auditRetentionDays", _auditRetentionDays), ("auditHeadsFile", _auditHeadsFile),
            ("migrate", _migrate), ("dbConnections", _dbConnections), ("caFile", _caFile), ("proxy", _proxy),
            ("logLevel", _logLevel), ("delivery", _delivery),
        ]
    }

    /// The values given on the command line.
    var settings: StoreSettings {
        StoreSettings(
            app: app, store: store, issuer: issuer, region: region, account: account, masterKeyFile: masterKeyFile, caller: caller,
            testing: testing, clock: clock, auditIssuance: auditIssuance, auditRetentionDays: auditRetentionDays,
            auditHeadsFile: auditHeadsFile, migrate: migrate,
            dbConnections: dbConnections, caFile: caFile, proxy: proxy, logLevel: logLevel,
            delivery: delivery.settings)
    }
}
