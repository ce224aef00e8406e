import Accounts
import Contract
import Crypto
import JSON
import JSONRPC
import Logging
import Network
import Platform
import Provisioning
import ServiceContext
import Storage
import Synchronization
import VendorAPIs

/// The identity service: all methods, on one store.
///
/// The store is opened on first use. If that fails, each call that needs the store fails with the reason, and the next request tries again.
/// Restoring a key or releasing a lock therefore requires no restart.
public final class Mintmark: Sendable {
    public let configuration: Configuration
    public let startedAt: Int64
    let counters: Counters
    let log: Logger
    let logRing: LogRing?
    let writeProbe = WriteProbe()
    /// The host of the process, which can answer hooks.
    let host = PipeHookHost()
    private let random: any RandomSource
    private let foreign: any LoginProviderClient
    /// The injected faults, or `nil` without `--testing`.
    let faults: Faults?
    /// Every request reads this, so access must not take a lock.
    private let openedServices = AtomicLazyReference<Services>()
    /// Held while a thread opens the store, which can take as long as another program locks it.
    /// Threads sleep while another one opens the store, which takes milliseconds: for a `Mutex`, the kernel lets them spin.
    private let opening = ConditionLock(OpeningAttempts())
    /// The number of failed attempts to open the store. Can be read during an attempt.
    private let failedAttempts = Atomic<Int>(0)
    /// Whether failures to open the store are logged. Off for commands that report the failure themselves.
    let logsOpening = Atomic(false)
    private let inFlight = Mutex<ClosureBox<@Sendable () -> Int>>(ClosureBox { 0 })

    /// - Parameter logRing: The destination of the log, or `nil` to discard it.
    public init(
        _ configuration: Configuration, logRing: LogRing? = nil, logLevel: Logger.Level = .info, random: any RandomSource = SystemRandom()
    ) {
        OpenSSLRuntime.start()
        self.configuration = configuration
        self.logRing = logRing
        self.random = random
        startedAt = SystemClock().now
        let faults = configuration.testing ? Faults() : nil
        self.faults = faults
        let log = Logger(label: "mintmark") { _ in
            if let logRing { LineLogHandler(ring: logRing, level: logLevel) } else { SwiftLogNoOpLogHandler() }
        }
        self.log = log
        let foreign = ProvidersOverHTTP(
            configuration.httpClient(faults), allowsPlainLoopback: configuration.testing, log: ProviderLog(log))
        self.foreign = foreign
        faults?.whenCleared { foreign.forgetFailures() }
        counters = Counters(onEnd: logRing == nil ? nil : CallLog(log).listener) { method, trace, incident, error in
            log.error(
                "a request failed with an internal error",
                metadata: ["method": "\(method)", "trace": "\(trace ?? "")", "incident": "\(incident)", "error": "\(error)"])
        }
    }

    /// The services on the open store.
    ///
    /// - Throws: A contract error with the reason the store cannot be opened.
    public func services() throws -> Services {
        if let services = opened { return services }
        let seen = failedAttempts.load(ordering: .acquiring)
        return try opening.withLock { attempts in
            if let services = opened { return services }
            // A thread that waited for a failed attempt shares its error instead of waiting for another attempt.
            if let failure = attempts.lastFailure, failedAttempts.load(ordering: .acquiring) > seen { throw failure }
            do {
                let opening = StoreOpening(configuration: configuration, random: random, foreign: foreign, faults: faults, hookHost: host)
                let services = Services(try opening.open(), self)
                logNewStore(services)
                if logsOpening.load(ordering: .relaxed) { warnOfOpenFiles() }
                return openedServices.storeIfNil(services)
            } catch {
                let answer = contractError(error) ?? StoreCannotOpen(path: "\(configuration.store)", reason: "\(error)")
                if logsOpening.load(ordering: .relaxed) {
                    log.error("the store is not open", metadata: ["type": "\(Swift.type(of: answer).type)", "reason": "\(answer.message)"])
                }
                attempts.lastFailure = answer
                failedAttempts.add(1, ordering: .releasing)
                throw answer
            }
        }
    }

    /// Makes the store match a document in the format of `system.apply`.
    ///
    /// - Throws: `InvalidParams` with all violations in the document, or the reason the store cannot be used.
    public func apply(_ document: JSONNode) throws {
        let request = try SystemApply.Params(decoding: document)
        let changes = try services().apply.apply(request, OwnCall()).changes
        func count(_ change: AppliedChange.Change) -> Logger.MetadataValue {
            .stringConvertible(Int64(changes.count { $0.change == change }))
        }
        let what: Logger.Message = request.dryRun ? "would apply the document (dry run); nothing was changed" : "applied"
        log.info(what, metadata: ["created": count(.created), "updated": count(.updated), "unchanged": count(.unchanged)])
    }

    /// Migrates the tables of the store, regardless of the configuration, and opens nothing else.
    ///
    /// - Parameter progress: Receives the number of statements that have run, and the number of all of them.
    /// - Returns: The schema version before and after. The version before is 0 for an empty database.
    /// - Throws: The reason the store cannot be used.
    public func migrate(
        progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws -> (from: Int, to: Int) {
        var configuration = configuration
        configuration.migrates = true
        var opening = StoreOpening(configuration: configuration, random: random, foreign: foreign)
        opening.migrationProgress = progress
        let database = try opening.openDatabase(makesFiles: false)
        defer { database.close() }
        let facts = try database.facts()
        return (facts.foundSchemaVersion, facts.schemaVersion)
    }

    /// Returns the schema version of the store, or 0 for an empty database, and the version to which `migrate` would bring it.
    ///
    /// - Throws: The reason the store cannot be used.
    public func schemaVersions() throws -> (now: Int, newest: Int) {
        var configuration = configuration
        (configuration.migrates, configuration.makesStores) = (false, false)
        do {
            let database = try StoreOpening(configuration: configuration, random: random, foreign: foreign).openDatabase(makesFiles: false)
            defer { database.close() }
            return (try database.facts().schemaVersion, Self.schemaVersion)
        } catch StoreError.tooOld(let found, let needed) { return (found, needed) }
    }

    /// Returns the fingerprint of the master key that a store in a file requires, or `nil` if the file cannot be read as a store.
    public static func masterFingerprint(ofFile path: String) -> String? {
        var configuration = Configuration(store: .file(path))
        (configuration.migrates, configuration.makesStores, configuration.readsOnly) = (false, false, true)
        let opening = StoreOpening(configuration: configuration, random: SystemRandom(), foreign: NoLoginProviderClient())
        guard let database = try? opening.openDatabase() else { return nil }
        defer { database.close() }
        return try? database.read { try $0.masterFingerprint() }
    }

    private struct OpeningAttempts { var lastFailure: (any ContractError)? }

    /// The services if the store is open.
    var opened: Services? { openedServices.load() }

    /// Returns whether all attempts to open the store have failed.
    ///
    /// - Parameter waiting: Whether to wait for the first attempt.
    func isStoreRefused(waiting: Bool) -> Bool {
        if waiting, opened == nil, failedAttempts.load(ordering: .acquiring) == 0 { _ = try? services() }
        return opened == nil && failedAttempts.load(ordering: .acquiring) > 0
    }

    /// Sets the closure that returns the number of unanswered requests.
    func watchInFlight(_ count: @escaping @Sendable () -> Int) { inFlight.withLock { $0.closure = count } }

    var requestsInFlight: Int { inFlight.withLock { $0 }.closure() }

    /// Completes pending writes and closes the store.
    ///
    /// - Parameter logsHeads: Whether to log the heads of the audit log if it has new records.
    public func close(logsHeads: Bool = false) {
        if let services = opened {
            services.loopback.stop()
            services.testing?.stop()
            services.accounts.callbacks.stop()
            services.accounts.notices.finish()
            services.events.close()
            // A store in memory no longer exists after this, so it needs no cleanup and no audit heads.
            if configuration.store != .memory {
                services.housekeeping.finish(handsOutHeads: logsHeads || configuration.auditHeadsFile != nil)
            }
            services.context.database.close()
        }
        logRing?.flush()
        // Breaks a retain cycle: the counters retain the methods, and the methods retain this service.
        counters.clear()
    }

    /// The schema version to which stores are migrated.
    public static let schemaVersion = Schema.version

    /// The version of the program.
    public static let version = "0.1.0"
}
