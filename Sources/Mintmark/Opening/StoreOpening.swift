import Accounts
import Contract
import Crypto
import IdentityPools
import Network
import Platform
import ServiceContext
import Storage
import Synchronization

/// Opens the store and its encryption keys, and creates the context for the services.
struct StoreOpening {
    let configuration: Configuration
    let random: any RandomSource
    let foreign: any LoginProviderClient
    var faults: Faults? = nil
    var hookHost: any HookHost = NoHookHost()
    /// Receives the progress of a migration: the statements that have run, and those of all missing migrations.
    var migrationProgress: (@Sendable (_ done: Int64, _ total: Int64) -> Void)? = nil

    /// - Throws: `StoreError`, `TestingStoreMismatch`, `MasterKeyMissing`, `MasterKeyWrong`, `StoreCannotOpen`.
    func open() throws -> AccountsContext {
        // Checked before the database is created or changed.
        if configuration.testing, !TestingParts.isIncluded {
            throw StoreCannotOpen(
                path: "\(configuration.store)",
                reason: "this program was built without the testing methods; use one that was built with them, or start without --testing")
        }
        if configuration.store.isRemote, configuration.masterKey == nil { throw MasterKeyMissing.ofDatabase }
        let database = try openDatabase()
        try StoreMetadata.refuseIncomplete(database, at: "\(configuration.store)")
        if !configuration.makesStores, configuration.store != .memory, try !SessionKeySetup.isDone(in: database) {
            throw StoreCannotOpen(
                path: "\(configuration.store)", reason: "the store is not completely initialized; mintmark serve completes it")
        }
        let now = SystemClock().now
        let isTesting = try StoreMetadata.agree(on: configuration.testing, in: database, random: random)
        guard isTesting == configuration.testing else {
            let reason = isTesting ? "it is a testing store; add --testing" : "it is not a testing store; omit --testing"
            throw TestingStoreMismatch(testing: isTesting, path: "\(configuration.store)", reason: reason)
        }
        let dataKey = try namingKeyFile {
            try DataKey.open(in: database, isTesting: isTesting, random: random, now: now, masterKey: masterKey(of: database))
        }
        if configuration.makesStores { try settleKeyFile(database) }
        let vault = Vault(dataKey: dataKey, random: random)
        try SessionKeySetup.ensure(in: database, vault: vault, random: random, now: now)
        let clock: any WallClock = configuration.testing ? VirtualClock(database, faults) : SystemClock()
        if configuration.testing, configuration.makesStores, let start = configuration.clock { try VirtualClock(database).begin(at: start) }
        let environment = ServiceEnvironment(
            clock: clock, random: configuration.testing ? SeededRandomGenerator(database, otherwise: random) : random, foreign: foreign,
            faults: configuration.testing ? faults ?? Faults() : nil)
        let service = ServiceContext(
            realm: configuration.realm, database: TestingParts.database(database, faults), vault: vault, environment: environment,
            auditsIssuance: configuration.auditsIssuance)
        let accounts = AccountsContext(
            service, delivery: delivery(clock), faultyCarrier: { TestingParts.carrier(of: service) },
            passwords: PasswordProtection(
                cost: configuration.testing ? PasswordHasher.testingCost : PasswordHasher.cost,
                breached: BreachedPasswordsOverHTTP(client: configuration.httpClient(faults))),
            hooks: HookTransports(host: hookHost, http: configuration.httpClient(faults)))
        accounts.sendNoticesAfterCommits()
        return accounts
    }

    /// A store that is open for reading, with the keys that open it.
    struct Source {
        let database: any Database
        let vault: Vault
        let masterKey: MasterKey
        let isTesting: Bool
    }

    /// Opens an existing store for reading all of it, and changes nothing in it. The configuration must not allow new stores.
    ///
    /// - Throws: The errors of `open`.
    func openSource() throws -> Source {
        if configuration.store.isRemote, configuration.masterKey == nil { throw MasterKeyMissing.ofDatabase }
        let database = try openDatabase()
        try StoreMetadata.refuseIncomplete(database, at: "\(configuration.store)")
        let unfinished = StoreCannotOpen(
            path: "\(configuration.store)", reason: "the store is not completely initialized; mintmark serve completes it")
        guard let testing = try database.read({ try $0.storeFact("testing") }) else { throw unfinished }
        let find = masterKey(of: database)
        var used: MasterKey?
        let dataKey = try namingKeyFile {
            try DataKey.open(in: database, random: random, now: SystemClock().now) { fingerprint in
                guard fingerprint != nil else { throw unfinished }
                let key = try find(fingerprint)
                used = key
                return key
            }
        }
        return Source(
            database: database, vault: Vault(dataKey: dataKey, random: random), masterKey: used!, isTesting: testing == "true")
    }

    /// Returns the delivery of messages to users.
    private func delivery(_ clock: any WallClock) -> Delivery {
        if configuration.testing { return .outbox }
        let carriers = Carriers(
            mail: configuration.mail, webhook: configuration.webhook, mailClient: CurlMailClient(caFile: configuration.outgoing.caFile),
            http: CurlClient(configuration.outgoing), clock: clock, random: random)
        return .carriers(mailer: carriers, texter: carriers)
    }

    /// The migrations, which report their progress. The first one that runs is the first that is missing.
    private var reportingMigrations: [Migration] {
        guard let migrationProgress else { return Schema.migrations }
        let first = Mutex<Int?>(nil)
        return Schema.migrations.map { migration in
            var reporting = migration
            reporting.willRun = { statement in
                let start = first.withLock { first in
                    first = first ?? migration.version
                    return first ?? 0
                }
                let missing = Schema.migrations.filter { $0.version >= start }
                let done = missing.filter { $0.version < migration.version }.reduce(statement) { $0 + $1.count }
                migrationProgress(Int64(done), Int64(missing.reduce(0) { $0 + $1.count }))
            }
            return reporting
        }
    }

    /// Opens only the database and migrates its tables.
    ///
    /// - Parameter makesFiles: Whether a missing file is created, if the configuration allows new stores.
    func openDatabase(makesFiles: Bool = true) throws -> any Database {
        let (migrations, migrates, makes, id) = (reportingMigrations, configuration.migrates, configuration.makesStores, random.uuid())
        switch configuration.store {
        case .memory:
            let options = OpeningOptions(migrates: migrates)
            return try SQLiteDatabase(.memory, migrations: migrations, image: Schema.image, options: options, connectionId: id)
        case .file(let path):
            let options = OpeningOptions(
                migrates: migrates && makes, makesStore: makes && makesFiles, makesFolders: configuration.makesFolders,
                readsOnly: configuration.readsOnly)
            return try SQLiteDatabase(.file(path), migrations: migrations, image: Schema.image, options: options, connectionId: id)
        case .postgres(let address):
            return try PostgresDatabase(
                address, migrations: migrations, options: OpeningOptions(migrates: migrates && makes, makesStore: makes), connectionId: id,
                connections: configuration.databaseConnections)
        }
    }

    /// Returns a closure that provides the master key: the configured key, or the one in the key file next to the store. For a store that
    /// already has a data key, no new master key is generated.
    private func masterKey(of database: any Database) -> (String?) throws -> MasterKey {
        { fingerprint in
            if let given = configuration.masterKey { return given }
            guard let file = configuration.keyFile else { return configuration.testing ? .ofMemory : .generate(random) }
            guard let fingerprint else { return try file.read() ?? file.create(random) }
            guard let kept = try file.read(preferring: fingerprint) else { throw MasterKeyMissing(fingerprint: fingerprint) }
            return kept
        }
    }

    /// Adds the path of the matching key file to a master key error, if one is found nearby. Public callers never receive file paths.
    private func namingKeyFile<R>(_ body: () throws -> R) throws -> R {
        func find(_ fingerprint: String) -> String? {
            guard !configuration.publicCaller else { return nil }
            var places = configuration.masterKeyFile.map { [$0] } ?? []
            if case .file(let path) = configuration.store { places.append(path) }
            return MasterKeyFile.find(fingerprint, near: places)
        }
        do { return try body() } catch let error as MasterKeyWrong {
            throw MasterKeyWrong(fingerprint: error.fingerprint, given: error.given, keyFile: find(error.fingerprint))
        } catch let error as MasterKeyMissing {
            throw MasterKeyMissing(
                fingerprint: error.fingerprint, keyFile: error.fingerprint.flatMap(find), newKeyCommand: error.newKeyCommand)
        }
    }

    /// Completes a replacement of the key file that was interrupted by the end of a process. If the store cannot be written, the
    /// replacement stays pending.
    private func settleKeyFile(_ database: any Database) throws {
        guard let keyFile = configuration.keyFile, let fingerprint = try database.read({ try $0.masterFingerprint() }),
            try keyFile.read()?.fingerprint != fingerprint
        else { return }
        _ = try? database.write { tx in try tx.masterFingerprint().map { keyFile.settle(on: $0) } }
    }
}

extension MasterKeyMissing {
    /// The error for a database without a master key. The key is required before the connection, so the store may be new.
    static var ofDatabase: Self { Self(newKeyCommand: "mintmark keygen --output FILE") }
}
