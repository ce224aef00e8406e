import Accounts
import Contract
import Crypto
import IdentityPools
import Network
import Platform
import ServiceContext
import Storage
import TestSupport

/// Opens the store and the keys that seal it, and hands the flows what they need.
struct StoreOpening {
    let configuration: Configuration
    let random: any RandomSource
    let foreign: any ForeignProviders
    var faults: Faults? = nil

    /// - Throws: `StoreError`, `TestingStoreMismatch`, `MasterKeyMissing`, `MasterKeyWrong`, `StoreCannotOpen`.
    func open() throws -> AccountsContext {
        // Said before anything is made there.
        if configuration.store.isRemote, configuration.masterKey == nil { throw MasterKeyMissing() }
        let database = try openDatabase()
        if !configuration.makesStores, configuration.store != .memory, try !SessionKeySetup.isDone(in: database) {
            throw StoreCannotOpen(
                path: "\(configuration.store)", reason: "the store is not completely initialized; mintmark serve completes it")
        }
        let now = SystemClock().now
        let isTesting = try TestingMark.agree(on: configuration.testing, in: database, random: random)
        guard isTesting == configuration.testing else { throw TestingStoreMismatch(testing: isTesting) }
        let dataKey = try namingKeyFile {
            try DataKey.open(in: database, isTesting: isTesting, random: random, now: now, masterKey: masterKey(of: database))
        }
        if configuration.makesStores { try settleKeyFile(database) }
        let vault = Vault(dataKey: dataKey, random: random)
        try SessionKeySetup.ensure(in: database, vault: vault, random: random, now: now)
        let clock: any WallClock = configuration.testing ? StoreClock(database, faults) : SystemClock()
        if configuration.testing, configuration.makesStores, let start = configuration.clock { try StoreClock(database).begin(at: start) }
        let service = ServiceContext(
            realm: configuration.realm, database: faults.map { FaultableDatabase(database, $0) } ?? database, clock: clock,
            random: configuration.testing ? StoreRandom(database, otherwise: random) : random, vault: vault,
            isTesting: configuration.testing, faults: faults,
            auditsIssuance: configuration.auditsIssuance, foreign: foreign)
        return AccountsContext(
            service, delivery: delivery(clock), faultyCarrier: { .outbox(of: service) },
            breachedPasswords: BreachedPasswordsOverHTTP(client: configuration.httpClient(faults)),
            passwordCost: configuration.testing ? PasswordHasher.testingCost : PasswordHasher.cost)
    }

    /// Where messages to people go.
    private func delivery(_ clock: any WallClock) -> Delivery {
        if configuration.testing { return .outbox }
        let carriers = Carriers(
            mail: configuration.mail, webhook: configuration.webhook, mailClient: CurlMailClient(caFile: configuration.outgoing.caFile),
            http: CurlClient(configuration.outgoing), clock: clock, random: random)
        return .carriers(mailer: carriers, texter: carriers)
    }

    /// Opens the database alone and brings its tables up to date.
    ///
    /// - Parameter makesFiles: whether a file that is not there becomes a store, where stores are made at all.
    func openDatabase(makesFiles: Bool = true) throws -> any Database {
        let (migrations, migrates, makes, id) = (Schema.migrations, configuration.migrates, configuration.makesStores, random.uuid())
        switch configuration.store {
        case .memory: return try SQLiteDatabase(.memory, migrations: migrations, migrates: migrates, connectionId: id)
        case .file(let path):
            return try SQLiteDatabase(
                .file(path), migrations: migrations, migrates: migrates && makes, makesStore: makes && makesFiles,
                makesFolders: configuration.makesFolders, connectionId: id)
        case .postgres(let address):
            return try PostgresDatabase(
                address, migrations: migrations, migrates: migrates && makes, makesStore: makes, connectionId: id,
                connections: configuration.databaseConnections)
        }
    }

    /// The master key: the one given, or the file beside the store. A store that has a data key never gets a new master key.
    private func masterKey(of database: any Database) -> (String?) throws -> MasterKey {
        { fingerprint in
            if let given = configuration.masterKey { return given }
            guard let file = configuration.keyFile else { return configuration.testing ? .ofMemory : .generate(random) }
            guard let fingerprint else { return try file.read() ?? file.create(random) }
            guard let kept = try file.read(preferring: fingerprint) else { throw MasterKeyMissing(fingerprint: fingerprint) }
            return kept
        }
    }

    /// Adds to an error about the master key where the right one is, if it is near. The public is told of no files.
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
            throw MasterKeyMissing(fingerprint: error.fingerprint, keyFile: error.fingerprint.flatMap(find))
        }
    }

    /// Ends what a process began that was killed while it replaced the key file. A store that cannot be written waits with it.
    private func settleKeyFile(_ database: any Database) throws {
        guard let keyFile = configuration.keyFile, let fingerprint = try database.read({ try $0.masterFingerprint() }),
            try keyFile.read()?.fingerprint != fingerprint
        else { return }
        _ = try? database.write { tx in try tx.masterFingerprint().map { keyFile.settle(on: $0) } }
    }
}
