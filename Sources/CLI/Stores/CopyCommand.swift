import Arguments
import JSON
import Mintmark
import ServiceContext

/// `mintmark copy`
struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy a whole store: from SQLite to PostgreSQL, back, or to another file.",
        discussion: """
            Copies everything, from accounts and sessions to signing keys and the audit log, in one consistent view while the source is in \
            use. The source is not changed. Tokens and sessions stay valid. Afterwards, use only one of the two stores. An \
            interrupted copy leaves a target that cannot be opened; run the same command again.

              mintmark copy --from shop.db --to postgres://shop@db/shop
              mintmark copy --from postgres://shop@db/shop --to shop.db --master-key-file shop.key
            """)

    @Option(help: ArgumentHelp("The store to copy: a file or postgres://user@host/database.", valueName: "store"), completion: .file())
    var from: String

    @Option(
        help: ArgumentHelp("The new store: a file that does not exist, or an empty PostgreSQL database.", valueName: "store"),
        completion: .file())
    var to: String

    @Option(
        help: ArgumentHelp("The path of a file with the master key of the source. (default: <from>.key)", valueName: "path"),
        completion: .file())
    var masterKeyFile: String?

    @Option(
        help: ArgumentHelp("The path of a file with another master key for the copy. (default: the key of the source)", valueName: "path"),
        completion: .file())
    var toMasterKeyFile: String?

    @Flag(help: "Count the rows of the source and copy nothing.")
    var dryRun = false

    @OptionGroup var progress: ProgressOption

    func run() throws {
        let bar = ProgressBar("Copying", unit: "rows", style: try progress.style())
        defer { bar.finish() }
        let source = try configuration(from, "--from", masterKeyFile)
        let target = try configuration(to, "--to", nil)
        do {
            let newKey = try toMasterKeyFile.map { try MasterKeyFile(path: $0, source: "--to-master-key-file").readGiven() }
            let copying = StoreCopying(from: source, to: target, newKey: newKey)
            guard !copying.isOneFile else { throw sameStore }
            let report = try copying.run(dryRun: dryRun) { done, total in bar.update(done, of: total) }
            bar.finish()
            var rows: JSONObject = [:]
            for (table, count) in report.rows { rows[table] = .number(JSONNumber(count)) }
            var answer: JSONObject = ["from": .string("\(source.store)"), "to": .string("\(target.store)"), "rows": .object(rows)]
            if dryRun { answer["dryRun"] = true } else { answer["auditIntact"] = true }
            answer["masterFingerprint"] = .string(report.masterFingerprint)
            try Printing.out(JSONValue.object(answer).text)
            if !dryRun { explain(report) }
        } catch is StoreCopying.SameStore {
            throw sameStore
        } catch {
            bar.finish()
            throw Printing.failure(error)
        }
    }

    private var sameStore: ValidationError { ValidationError("--from and --to are the same store. Name another target.") }

    private func configuration(_ store: String, _ option: String, _ keyFile: String?) throws -> Configuration {
        var settings = StoreSettings()
        (settings.store, settings.storeOption, settings.masterKeyFile) = (store, option, keyFile)
        let configuration = try settings.configuration()
        if configuration.store == .memory {
            throw ValidationError(
                "\(option) :memory: is not possible: a store in memory belongs to its process. Name a file or a database.")
        }
        return configuration
    }

    private func explain(_ report: StoreCopying.Report) {
        let key =
            report.keyFile.map { "The master key \(report.masterFingerprint) is in \($0)." }
            ?? "The copy needs the master key \(report.masterFingerprint): pass it with --master-key-file or MINTMARK_MASTER_KEY."
        Printing.err("\(key) Use only one of the two stores: stop the processes on the other one.")
    }
}
