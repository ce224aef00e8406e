import Arguments
import Contract
import Glibc
import Logging
import Mintmark
import ServiceContext
import Storage

/// The store and its settings from the command line, with the environment as the fallback.
struct StoreSettings {
    var app: String?
    var store: String?
    /// The option from which `store` comes.
    var storeOption = "--store"
    var issuer: String?
    var region: String?
    var account: String?
    var masterKeyFile: String?
    var caller: String?
    var testing = false
    var clock: Int64?
    var auditIssuance = false
    var auditRetentionDays: Int?
    var auditHeadsFile: String?
    var migrate: String?
    var dbConnections: Int?
    var caFile: String?
    var proxy: String?
    var logLevel: String?
    /// Whether the command ends after a short time, and therefore logs only warnings on a terminal.
    var isBrief = false
    var delivery = DeliverySettings()

    /// Returns the configuration from the options and the environment.
    ///
    /// - Throws: `ValidationError` for settings that are not valid; `ContractError` for a master key file that cannot be used.
    func configuration() throws -> Configuration {
        let testing = try Environment.flag("TESTING", or: self.testing)
        try Environment.refuseTypos()
        let caller = try choice(caller, "caller", ["developer", "public"]) ?? "developer"
        let migrate = try choice(migrate, "migrate", ["auto", "never"]) ?? "auto"
        if testing, caller == "public" {
            let sources = [
                OptionValue.source("--testing", isGiven: self.testing), OptionValue.source("--caller", isGiven: self.caller != nil),
            ]
            throw ValidationError(
                "\(sources[0]) and \(sources[1]) public exclude each other: tests require the access level developer.")
        }
        let clock = try self.clock ?? Environment.integer("CLOCK")
        let clockSource = OptionValue.source("--clock", isGiven: self.clock != nil)
        if let clock, !(VirtualClock.range ~= clock) {
            throw ValidationError("\(clockSource) must be between 0 and \(VirtualClock.range.upperBound), the end of the year 9999.")
        }
        if clock != nil, !testing { throw ValidationError("\(clockSource) requires --testing.") }
        let (store, isAppsOwn) = try storeLocation()
        var configuration = Configuration(
            store: store, realm: try realm(testing: testing), testing: testing, publicCaller: caller == "public",
            masterKey: try masterKey(), auditsIssuance: try Environment.flag("AUDIT_ISSUANCE", or: auditIssuance),
            auditRetentionDays: try retentionDays(), migrates: migrate == "auto", makesFolders: isAppsOwn, clock: clock,
            databaseConnections: try databaseConnections(), outgoing: try outgoing(testing: testing), mail: try delivery.mail(),
            webhook: try delivery.webhook())
        configuration.masterKeyFile = masterKeyFile ?? Environment["MASTER_KEY_FILE"]
        configuration.auditHeadsFile = auditHeadsFile ?? Environment["AUDIT_HEADS_FILE"]
        return configuration
    }

    private func retentionDays() throws -> Int? {
        guard let days = try auditRetentionDays ?? Environment.integer("AUDIT_RETENTION_DAYS").map({ Int($0) }) else { return nil }
        guard 1...36_500 ~= days else {
            let source = OptionValue.source("--audit-retention-days", isGiven: auditRetentionDays != nil)
            throw ValidationError("\(source) must be between 1 and 36500, not \(days).")
        }
        return days
    }

    private func databaseConnections() throws -> Int {
        let count = try dbConnections ?? Environment.integer("DB_CONNECTIONS").map { Int($0) } ?? 4
        guard 1...100 ~= count else {
            let source = OptionValue.source("--db-connections", isGiven: dbConnections != nil)
            throw ValidationError("\(source) must be between 1 and 100, not \(count).")
        }
        return count
    }

    private func choice(_ given: String?, _ name: String, _ known: [String]) throws -> String? {
        let variable = name.uppercased()
        guard let value = given ?? Environment[variable] else { return nil }
        guard known.contains(value) else {
            let source = OptionValue.source("--\(name)", isGiven: given != nil)
            throw ValidationError("\(source) must be one of \(known.joined(separator: ", ")), not '\(value)'.")
        }
        return value
    }

    /// Returns the location of the store, and whether it is the default location of an app. The command line takes precedence over the
    /// environment.
    private func storeLocation() throws -> (store: Configuration.Store, isAppsOwn: Bool) {
        if store != nil, app != nil { throw ValidationError("--store and --app exclude each other: both select the store.") }
        if let store = store ?? (app == nil ? Environment["STORE"] : nil) { return (try location(store), false) }
        return (try locationOfApp(), true)
    }

    private func location(_ store: String) throws -> Configuration.Store {
        try refusing { () throws(SettingRefused) in try Configuration.Store(named: store) }
    }

    private func locationOfApp() throws -> Configuration.Store {
        try refusing { () throws(SettingRefused) in
            try Configuration.Store(
                ofApp: app ?? Environment["APP"] ?? "default", dataHome: Environment.plain("XDG_DATA_HOME"), home: Environment.plain("HOME")
            )
        }
    }

    private func realm(testing: Bool) throws -> Deployment {
        try refusing { () throws(SettingRefused) in
            try Deployment(
                issuer: issuer ?? Environment["ISSUER"], region: region ?? Environment["REGION"],
                account: account ?? Environment["ACCOUNT"],
                testing: testing)
        }
    }

    private func refusing<Setting>(_ body: () throws(SettingRefused) -> Setting) throws -> Setting {
        do { return try body() } catch { throw ValidationError(error.reason(naming: error.option.map(source(of:)))) }
    }

    /// Returns the option or the environment variable from which a setting comes.
    private func source(of option: String) -> String {
        switch option {
        case "--store": store == nil ? "MINTMARK_STORE" : storeOption
        case "--app": OptionValue.source(option, isGiven: app != nil)
        case "--issuer": OptionValue.source(option, isGiven: issuer != nil)
        case "--region": OptionValue.source(option, isGiven: region != nil)
        case "--account": OptionValue.source(option, isGiven: account != nil)
        default: option
        }
    }

    private func namedKey(_ path: String) throws -> MasterKey {
        try MasterKeyFile(path: path, source: OptionValue.source("--master-key-file", isGiven: masterKeyFile != nil)).readGiven()
    }

    private func masterKey() throws -> MasterKey? {
        if let path = masterKeyFile ?? Environment["MASTER_KEY_FILE"] { return try namedKey(path) }
        guard let text = Environment["MASTER_KEY"] else { return nil }
        do { return try MasterKey(text: text) } catch {
            throw ValidationError(
                "MINTMARK_MASTER_KEY contains no master key: 32 bytes in base64url (43 characters) or hexadecimal (64 characters).")
        }
    }
}

extension Mintmark {
    /// Creates a `Mintmark` with the settings, to which `changing` can apply changes.
    convenience init(_ settings: StoreSettings, logsTo ring: LogRing?, changing: (inout Configuration) -> Void = { _ in }) throws {
        let name = settings.logLevel ?? Environment["LOG_LEVEL"] ?? (settings.isBrief && isatty(2) == 1 ? "warning" : "info")
        guard let level = Logger.Level(rawValue: name) else {
            let source = OptionValue.source("--log-level", isGiven: settings.logLevel != nil)
            throw ValidationError(
                "\(source) must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")), not '\(name)'.")
        }
        var configuration = try settings.configuration()
        changing(&configuration)
        if let path = configuration.auditHeadsFile {
            do throws(OpenedTraceFile.Unusable) { try AuditHeadsFile(path).check() } catch {
                let source = OptionValue.source("--audit-heads-file", isGiven: settings.auditHeadsFile != nil)
                throw ValidationError("\(source): '\(path)' \(error.reason).")
            }
        }
        self.init(configuration, logRing: ring, logLevel: level)
    }
}
