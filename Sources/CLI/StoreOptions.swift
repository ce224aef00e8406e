import ArgumentParser
import Logging

/// The options that say which store and how; the same for every command.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The application whose store is used: <data folder>/mintmark/<name>.db.", valueName: "name"))
    var app: String?

    @Option(
        help: ArgumentHelp(
            "The store itself: a file in a folder that is there, :memory: for one that ends with the process, or postgres://user@host/database.",
            valueName: "path"), completion: .file())
    var store: String?

    @Option(help: ArgumentHelp("The base of every issuer; an https URL.", valueName: "url"))
    var issuer: String?

    @Option(help: "The first part of pool and identity ids. (default: local-1)")
    var region: String?

    @Option(help: "The account number in ARNs. (default: 000000000000)")
    var account: String?

    @Option(
        help: ArgumentHelp(
            "A file with the master key, 32 bytes in base64url or hexadecimal. PostgreSQL needs one. (default: <store>.key)",
            valueName: "path"), completion: .file())
    var masterKeyFile: String?

    @Option(
        help: "Who calls: developer, or public for only what proves itself by tokens. (default: developer)",
        completion: .list(["developer", "public"]))
    var caller: String?

    @Flag(help: "Use a testing store, whose clock can be turned.")
    var testing = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where a new testing store's clock stands, in seconds since 1970.", valueName: "seconds"))
    var clock: Int64?

    @Flag(help: "Record in the audit log that tokens were minted for known identities, too.")
    var auditIssuance = false

    @Option(parsing: .unconditional, help: ArgumentHelp("Remove audit records that are older. (default: keep all)", valueName: "days"))
    var auditRetentionDays: Int?

    @Option(help: "Whether an older store is brought up to date: auto or never. (default: auto)", completion: .list(["auto", "never"]))
    var migrate: String?

    @Option(parsing: .unconditional, help: "How many connections to a PostgreSQL server may be open at once. (default: 4)")
    var dbConnections: Int?

    @Option(
        help: ArgumentHelp(
            "A file of certificates (PEM) that are trusted beside the system's own: for login providers, mail servers and webhooks.",
            valueName: "path"),
        completion: .file())
    var caFile: String?

    @Option(
        help: ArgumentHelp(
            "The proxy by which login providers are asked, such as http://proxy.example:3128. (default: none)", valueName: "url"))
    var proxy: String?

    @Option(
        help: "The least level that is logged: trace, debug, info, notice, warning, error, critical. (default: info)",
        completion: .list(Logger.Level.allCases.map(\.rawValue)))
    var logLevel: String?

    @OptionGroup var delivery: DeliveryOptions

    /// What was given on the command line.
    var settings: StoreSettings {
        StoreSettings(
            app: app, store: store, issuer: issuer, region: region, account: account, masterKeyFile: masterKeyFile, caller: caller,
            testing: testing, clock: clock, auditIssuance: auditIssuance, auditRetentionDays: auditRetentionDays, migrate: migrate,
            dbConnections: dbConnections, caFile: caFile, proxy: proxy, logLevel: logLevel,
            delivery: delivery.settings)
    }
}
