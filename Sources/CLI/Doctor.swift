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
        discussion: "Exit code 0: all is well; 2: something is not.")

    @OptionGroup var options: StoreOptions

    func run() throws {
        let mintmark = try Mintmark(options.settings, logsTo: nil)
        var isWell = true
        func say(_ good: Bool, _ what: String) {
            isWell = isWell && good
            Printing.out("\(good ? Printing.green("ok") : Printing.red("!!"))  \(what)")
        }
        say(true, "mintmark \(Mintmark.version), issuer \(mintmark.configuration.realm.issuer)")
        do {
            let services = try mintmark.services()
            let database = services.surroundings.database
            let facts = try database.facts()
            say(true, "store \(facts.path ?? "in memory"), schema version \(facts.schemaVersion), \(facts.bytes / 1024) KiB")
            if facts.kind == .sqlite, let path = facts.path { checkModes(path, say) }
            if let fingerprint = try database.read({ try $0.masterFingerprint() }) {
                say(true, "the master key opens it (fingerprint \(fingerprint))")
            }
            if let sqlite = database as? SQLiteDatabase {
                let damage = try sqlite.damage()
                say(
                    damage.isEmpty,
                    damage.isEmpty
                        ? "every page reads as it was written"
                        : "damage: \(damage.joined(separator: "; ")); keep a copy and restore a backup")
            }
            let audit = try services.audit.verify(AuditVerify.Params(), OwnCall())
            let records = audit.chains.reduce(0) { $0 + $1.records - ($1.removedRecords ?? 0) }
            say(
                audit.intact,
                audit.intact
                    ? "audit log intact: \(records) records in \(audit.chains.count) chains"
                    : "audit log broken: \(audit.chains.compactMap(\.problem).joined(separator: "; "))")
        } catch {
            let needed = (error as? MasterKeyMissing)?.fingerprint.map { " It has the fingerprint \($0)." } ?? ""
            say(false, Printing.reason(error) + needed)
        }
        // Not needed by those who ask nobody, so its absence is no fault.
        do throws(HTTPFailure) {
            try CurlClient(mintmark.configuration.outgoing).prepare()
            say(true, "libcurl is here: login providers can be asked for their keys")
        } catch {
            Printing.out("--  login providers cannot be asked: \(error)")
        }
        mintmark.close()
        if !isWell { throw ExitCode(2) }
    }

    private func checkModes(_ path: String, _ say: (Bool, String) -> Void) {
        for file in [path, path + "-wal", path + "-shm", path + ".key"] {
            var facts = stat()
            guard stat(file, &facts) == 0 else { continue }
            let isPrivate = facts.st_mode & 0o077 == 0
            say(isPrivate, isPrivate ? "\(file) is for this user alone" : "\(file) can be read by others: chmod 600 '\(file)'")
        }
    }
}
