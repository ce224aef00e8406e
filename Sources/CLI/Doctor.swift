import ArgumentParser
import Contract
import Glibc
import Mintmark
import Network
import Storage

/// `mintmark doctor`
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at the store, its keys and its records, and say what is wrong.",
        discussion: "Makes nothing and changes nothing: where there is no store, it says so. Exit code 0: all is well; 2: something is not."
    )

    @OptionGroup var options: StoreOptions

    func run() throws {
        var isWell = true
        func say(_ good: Bool, _ what: String) throws {
            isWell = isWell && good
            try Printing.out("\(good ? Printing.green("ok") : Printing.red("!!"))  \(what)")
        }
        let mintmark: Mintmark
        do {
            var configuration = try options.settings.configuration()
            configuration.makesStores = false
            mintmark = Mintmark(configuration)
        } catch {
            guard let reason = contractError(error) else { throw error }
            try say(false, reason.message)
            throw ExitCode(2)
        }
        defer { mintmark.close() }
        try say(true, "mintmark \(Mintmark.version), issuer \(mintmark.configuration.realm.issuer)")
        do {
            let services = try mintmark.services()
            let database = services.surroundings.database
            let facts = try database.facts()
            let newer = facts.schemaVersion > Mintmark.schemaVersion ? " (one newer than this program's, which works)" : ""
            try say(true, "store \(facts.path ?? "in memory"), schema version \(facts.schemaVersion)\(newer), \(facts.bytes / 1024) KiB")
            if facts.kind == .sqlite, let path = facts.path { try checkModes(path, say) }
            try database.tryToWrite()
            try say(true, "it takes writes")
            if let fingerprint = try database.read({ try $0.masterFingerprint() }) {
                try say(true, "the master key opens it (fingerprint \(fingerprint))")
                for file in mintmark.configuration.keyFile?.leftovers(besides: fingerprint) ?? [] {
                    try Printing.out("--  \(file) is left of a store.rekey that was killed, and opens nothing; the next one removes it")
                }
            }
            if let sqlite = database as? SQLiteDatabase {
                let damage = try sqlite.damage()
                try say(
                    damage.isEmpty,
                    damage.isEmpty
                        ? "every page reads as it was written"
                        : "damage: \(damage.joined(separator: "; ")); keep a copy and restore a backup")
            }
            let audit = try services.audit.verify(AuditVerify.Params(), OwnCall())
            let records = audit.chains.reduce(0) { $0 + $1.records - ($1.removedRecords ?? 0) }
            try say(
                audit.intact,
                audit.intact
                    ? "audit log intact: \(records) records in \(audit.chains.count) chains"
                    : "audit log broken: \(audit.chains.compactMap(\.problem).joined(separator: "; "))")
        } catch let end as ExitCode {
            throw end
        } catch {
            let needed = (error as? MasterKeyMissing)?.fingerprint.map { " It has the fingerprint \($0)." } ?? ""
            try say(false, Printing.reason(error) + needed)
        }
        // Not needed by those who ask nobody, so its absence is no fault.
        switch Self.curlFailure(mintmark.configuration.outgoing) {
        case nil: try say(true, "libcurl is here: login providers can be asked for their keys")
        case let failure?: try Printing.out("--  login providers cannot be asked: \(failure)")
        }
        for line in Self.delivery(mintmark.configuration) { try Printing.out(line) }
        if !isWell { throw ExitCode(2) }
    }

    /// Who carries messages for the tenants that say nothing of it themselves.
    private static func delivery(_ configuration: Configuration) -> [String] {
        if configuration.testing { return ["--  messages stay in this testing store: test.outbox reads them"] }
        let (mail, webhook) = (configuration.mail, configuration.webhook)
        let (ok, others) = (Printing.green("ok"), "; a tenant's own delivery goes before it")
        let mails =
            mail.map { "\(ok)  mails go to \($0.server.origin), from \($0.sender.address)\(others)" }
            ?? webhook.map { "\(ok)  mails are posted to \($0.origin)\(others)" }
            ?? "--  nobody carries mails, unless a tenant's delivery says who: --smtp-url and --mail-from, or --webhook-url"
        let texts =
            webhook.map { "\(ok)  text messages are posted to \($0.origin)\(others)" }
            ?? "--  nobody carries text messages, unless a tenant's delivery says who: --webhook-url and MINTMARK_WEBHOOK_SECRET"
        return [mails, texts]
    }

    private static func curlFailure(_ options: CurlClient.Options) -> HTTPFailure? {
        do throws(HTTPFailure) {
            try CurlClient(options).prepare()
            return nil
        } catch { return error }
    }

    private func checkModes(_ path: String, _ say: (Bool, String) throws -> Void) throws {
        for file in [path, path + "-wal", path + "-shm", path + ".key"] {
            var facts = stat()
            guard stat(file, &facts) == 0 else { continue }
            let isPrivate = facts.st_mode & 0o077 == 0
            try say(isPrivate, isPrivate ? "\(file) is for this user alone" : "\(file) can be read by others: chmod 600 '\(file)'")
        }
    }
}
