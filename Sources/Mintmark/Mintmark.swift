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
import TestSupport
import VendorAPIs

/// The identity service: every method, over one store.
///
/// The store is opened when it is first needed. If that fails, whatever needs it answers why, and the next request tries
/// again: a key that is put back or a lock that goes away needs no new process.
public final class Mintmark: Sendable {
    public let configuration: Configuration
    public let startedAt: Int64
    let counters: Counters
    let log: Logger
    let logRing: LogRing?
    let writeProbe = WriteProbe()
    private let random: any RandomSource
    private let foreign: any ForeignProviders
    /// What a test makes fail here; nil without `--testing`.
    let faults: Faults?
    /// Taken up by every request, so without a lock.
    private let openedServices = AtomicLazyReference<Services>()
    /// Held while somebody opens the store, which may take as long as another program keeps it locked.
    private let opening = Mutex(OpeningAttempts())
    /// How many attempts to open the store have failed; read without waiting for one.
    private let failedAttempts = Atomic<Int>(0)
    /// Whether the log says why the store cannot be opened; not for a command that says so itself.
    let logsOpening = Atomic(false)
    private let inFlight = Mutex<Held<@Sendable () -> Int>>(Held { 0 })

    /// - Parameter logRing: where the log goes; nil: nowhere.
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

    /// The flows over the open store.
    ///
    /// - Throws: why the store cannot be opened, as the contract names it.
    public func services() throws -> Services {
        if let services = opened { return services }
        let seen = failedAttempts.load(ordering: .acquiring)
        return try opening.withLock { attempts in
            if let services = opened { return services }
            // Whoever waited for an attempt that failed shares its answer instead of waiting for another.
            if let failure = attempts.lastFailure, failedAttempts.load(ordering: .acquiring) > seen { throw failure }
            do {
                let opening = StoreOpening(configuration: configuration, random: random, foreign: foreign, faults: faults)
                let services = Services(try opening.open(), self)
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

    /// Brings the store to what a document declares, as `system.apply` takes it.
    ///
    /// - Throws: `InvalidParams` with everything that is wrong with the document; why the store cannot be used.
    public func apply(_ document: JSONNode) throws {
        let request = try SystemApply.Params(decoding: document)
        let changes = try services().apply.apply(request, OwnCall()).changes
        func count(_ change: AppliedChange.Change) -> Logger.MetadataValue {
            .stringConvertible(Int64(changes.count { $0.change == change }))
        }
        let what: Logger.Message = request.dryRun ? "would apply the document (dry run); nothing was changed" : "applied"
        log.info(what, metadata: ["created": count(.created), "updated": count(.updated), "unchanged": count(.unchanged)])
    }

    /// Brings the tables of the store up to date, whatever the configuration says, and opens nothing else of it.
    ///
    /// - Returns: the schema version before, 0 for an empty database whose tables were made, and after.
    /// - Throws: why the store cannot be used.
    public func migrate() throws -> (from: Int, to: Int) {
        var configuration = configuration
        configuration.migrates = true
        let database = try StoreOpening(configuration: configuration, random: random, foreign: foreign).openDatabase(makesFiles: false)
        defer { database.close() }
        let facts = try database.facts()
        return (facts.foundSchemaVersion, facts.schemaVersion)
    }

    private struct OpeningAttempts { var lastFailure: (any ContractError)? }

    /// The flows if the store is open by now.
    var opened: Services? { openedServices.load() }

    /// Whether no attempt to open the store has succeeded.
    ///
    /// - Parameter waiting: whether to wait for the first attempt to end.
    func isStoreRefused(waiting: Bool) -> Bool {
        if waiting, opened == nil, failedAttempts.load(ordering: .acquiring) == 0 { _ = try? services() }
        return opened == nil && failedAttempts.load(ordering: .acquiring) > 0
    }

    /// Says how to ask how many requests are unanswered.
    func watchInFlight(_ count: @escaping @Sendable () -> Int) { inFlight.withLock { $0.closure = count } }

    var requestsInFlight: Int { inFlight.withLock { $0 }.closure() }

    /// Finishes what is being written and closes the store.
    ///
    /// - Parameter logsHeads: whether the log gets the heads of the audit log, if something was recorded.
    public func close(logsHeads: Bool = false) {
        if let services = opened {
            services.loopback.stop()
            services.provider.stop()
            services.accounts.callbacks.stop()
            services.accounts.notices.finish()
            // What was in memory is gone: nothing of it is left to be swept or to be verified.
            if configuration.store != .memory {
                services.housekeeping.finish(handsOutHeads: logsHeads || configuration.auditHeadsFile != nil)
            }
            services.surroundings.database.close()
        }
        logRing?.flush()
        // The methods hold this service, which holds what it has counted of them.
        counters.clear()
    }

    /// The version of the schema that stores are brought to.
    public static let schemaVersion = Schema.migrations.last?.version ?? 0

    /// The program's version.
    public static let version = "0.1.0"
}
