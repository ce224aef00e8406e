import ArgumentParser
import Contract
import Identity
import Logging
import Mintmark
import Storage

/// Which store and how, as the command line says; what it leaves out, the environment may say.
struct StoreSettings {
    var app: String?
    var store: String?
    var issuer: String?
    var region: String?
    var account: String?
    var masterKeyFile: String?
    var caller: String?
    var testing = false
    var clock: Int64?
    var auditIssuance = false
    var auditRetentionDays: Int?
    var migrate: String?
    var dbConnections: Int?
    var caFile: String?
    var proxy: String?
    var logLevel: String?
    var delivery = DeliverySettings()

    /// What the options and the environment say together.
    ///
    /// - Throws: `ValidationError` for what makes no sense, `ContractError` for a master key file that cannot be used.
    func configuration() throws -> Configuration {
        let testing = try Environment.flag("TESTING", or: self.testing)
        try Environment.refuseTypos()
        let caller = try choice(caller, "caller", ["developer", "public"]) ?? "developer"
        let migrate = try choice(migrate, "migrate", ["auto", "never"]) ?? "auto"
        if testing, caller == "public" {
            throw ValidationError("--testing and --caller public exclude each other: a tester may do everything.")
        }
        let clock = try self.clock ?? Environment.integer("CLOCK")
        if let clock, !(0...Self.latestMoment ~= clock) {
            throw ValidationError("--clock is between 0 and \(Self.latestMoment), the end of the year 9999.")
        }
        if clock != nil, !testing { throw ValidationError("--clock needs --testing.") }
        let (store, isAppsOwn) = try storeLocation()
        return Configuration(
            store: store, realm: try realm(testing: testing), testing: testing, publicCaller: caller == "public",
            masterKey: try masterKey(), auditsIssuance: try Environment.flag("AUDIT_ISSUANCE", or: auditIssuance),
            auditRetentionDays: try retentionDays(), migrates: migrate == "auto", makesFolders: isAppsOwn, clock: clock,
            databaseConnections: try databaseConnections(), outgoing: try outgoing(), mail: try delivery.mail(),
            webhook: try delivery.webhook())
    }

    /// The last second of the year 9999, as `test.clock` has it.
    private static let latestMoment: Int64 = 253_402_300_799

    private func retentionDays() throws -> Int? {
        guard let days = try auditRetentionDays ?? Environment.integer("AUDIT_RETENTION_DAYS").map({ Int($0) }) else { return nil }
        guard 1...36_500 ~= days else { throw ValidationError("--audit-retention-days is between 1 and 36500.") }
        return days
    }

    private func databaseConnections() throws -> Int {
        let count = try dbConnections ?? Environment.integer("DB_CONNECTIONS").map { Int($0) } ?? 4
        guard 1...100 ~= count else { throw ValidationError("--db-connections is between 1 and 100.") }
        return count
    }

    private func choice(_ given: String?, _ name: String, _ known: [String]) throws -> String? {
        let variable = name.uppercased()
        guard let value = given ?? Environment[variable] else { return nil }
        guard known.contains(value) else {
            let source = given == nil ? "MINTMARK_\(variable)" : "--\(name)"
            throw ValidationError("\(source) is one of \(known.joined(separator: ", ")), not '\(value)'.")
        }
        return value
    }

    /// Where the store is, and whether it is an app's own place. What the command line says goes before what the environment says.
    private func storeLocation() throws -> (store: Configuration.Store, isAppsOwn: Bool) {
        if store != nil, app != nil { throw ValidationError("--store and --app exclude each other: both say where the store is.") }
        if let store = store ?? (app == nil ? Environment["STORE"] : nil) { return (try location(store), false) }
        return (try locationOfApp(), true)
    }

    private func location(_ store: String) throws -> Configuration.Store {
        if store == ":memory:" { return .memory }
        if store.hasPrefix(":"), store.hasSuffix(":") {
            throw ValidationError("--store \(store) is no store; did you mean :memory:? A file of that name is ./\(store).")
        }
        if store.isEmpty { throw ValidationError("--store is empty: name a file, or :memory:.") }
        if PostgresAddress.isAddress(store) { return .postgres(PostgresAddress(store)) }
        if store.contains("://") {
            throw ValidationError(
                "--store takes a file, :memory: or postgres://user@host/database; '\(store.prefix { $0 != ":" })' is no store here.")
        }
        return .file(store)
    }

    private func locationOfApp() throws -> Configuration.Store {
        let app = app ?? Environment["APP"] ?? "default"
        let isName = app.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
        }
        guard isName, !app.isEmpty, !app.hasPrefix("."), app.utf8.count <= 64 else {
            throw ValidationError("--app takes up to 64 letters, digits, dots, hyphens and underscores, and begins with no dot.")
        }
        return .file("\(try dataFolder())/mintmark/\(app).db")
    }

    private func dataFolder() throws -> String {
        if let folder = Environment.plain("XDG_DATA_HOME"), folder.hasPrefix("/") { return folder }
        guard let home = Environment.plain("HOME"), home.hasPrefix("/") else {
            throw ValidationError("There is no HOME to keep a store in; name one with --store.")
        }
        return "\(home)/.local/share"
    }

    private func realm(testing: Bool) throws -> Realm {
        let given = issuer ?? Environment["ISSUER"]
        let issuer = given ?? (testing ? "https://testing.mintmark.localhost" : "https://mintmark.localhost")
        guard let host = Self.host(of: issuer) else {
            throw ValidationError("--issuer is an https URL without query, such as https://id.example.com; '\(issuer)' is not.")
        }
        let isReserved =
            ["localhost", "test", "example"].contains { host == $0 || host.hasSuffix(".\($0)") } || ["127.0.0.1", "[::1]"].contains(host)
        if testing, !isReserved {
            throw ValidationError(
                "With --testing the issuer must be loopback, .test, .example or .localhost, so that its tokens fool nobody.")
        }
        let region = region ?? Environment["REGION"] ?? "local-1"
        guard (1...18).contains(region.utf8.count),
            region.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D })
        else {
            throw ValidationError("--region has up to 18 lower-case letters, digits and hyphens, such as eu-west-1.")
        }
        let account = account ?? Environment["ACCOUNT"] ?? "000000000000"
        guard account.utf8.count == 12, account.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ValidationError("--account has 12 digits.")
        }
        return Realm(issuer: issuer, region: region, account: account)
    }

    /// The host of an https URL (or of a loopback http one) without query and fragment, nil for anything else.
    private static func host(of url: String) -> String? {
        let isPlain = url.hasPrefix("http://")
        guard isPlain || url.hasPrefix("https://"), !url.contains("?"), !url.contains("#"), !url.contains(" "), url.utf8.count <= 512 else {
            return nil
        }
        let authority = url.dropFirst(isPlain ? 7 : 8).prefix { $0 != "/" }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let isLoopback = ["localhost", "127.0.0.1", "[::1]"].contains(String(host))
        return host.isEmpty || (isPlain && !isLoopback) ? nil : String(host)
    }

    private func namedKey(_ path: String) throws -> MasterKey {
        do { return try MasterKeyFile(path: path).readGiven() } catch let error as StoreCannotOpen {
            let source = masterKeyFile == nil ? "MINTMARK_MASTER_KEY_FILE" : "--master-key-file"
            throw StoreCannotOpen(path: error.path, reason: "\(error.reason) (\(source) names it as the file of the master key)")
        }
    }

    private func masterKey() throws -> MasterKey? {
        if let path = masterKeyFile ?? Environment["MASTER_KEY_FILE"] { return try namedKey(path) }
        guard let text = Environment["MASTER_KEY"] else { return nil }
        do { return try MasterKey(text: text) } catch {
            throw ValidationError(
                "MINTMARK_MASTER_KEY holds no master key: 32 bytes in base64url (43 characters) or hexadecimal (64) are needed.")
        }
    }
}

extension Mintmark {
    /// A Mintmark as the settings say, but for what `changing` says.
    convenience init(_ settings: StoreSettings, logsTo ring: LogRing?, changing: (inout Configuration) -> Void = { _ in }) throws {
        let name = settings.logLevel ?? Environment["LOG_LEVEL"] ?? "info"
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError("--log-level is one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")), not '\(name)'.")
        }
        var configuration = try settings.configuration()
        changing(&configuration)
        self.init(configuration, logRing: ring, logLevel: level)
    }
}
