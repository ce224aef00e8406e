import Arguments
import JSON
import Mintmark

/// `mintmark restore`
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the store with a backup.",
        discussion: """
            Checks the backup and its master key before anything is written. The key is taken from --master-key-file, otherwise from the \
            key files next to the store or next to the backup. An existing store is never overwritten: --replace renames its files, and \
            the new name is printed.

              mintmark restore --store shop.db /backups/shop-monday.db
              mintmark restore --store shop.db --replace /backups/shop-monday.db
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Flag(help: "Rename the files of a store that exists, to <store>.replaced-<time>.")
    var replace = false

    @OptionGroup var progress: ProgressOption

    @Argument(help: "The path of the backup.", completion: .file())
    var backup: String

    func run() throws {
        let style = try progress.style()
        let target = try options.settings.configuration()
        switch target.store {
        case .memory: throw ValidationError("--store :memory: cannot be restored: name a file or a database.")
        case .postgres where replace:
            throw ValidationError("--replace is for files. For PostgreSQL, restore into a new database.")
        case .file(let path) where StoreCopying(from: Configuration(store: .file(backup)), to: Configuration(store: .file(path))).isOneFile:
            throw ValidationError("The backup and the store are the same file. Name another --store.")
        default: break
        }
        var unit = "rows"
        if case .file = target.store { unit = "pages" }
        let bar = ProgressBar("Restoring", unit: unit, style: style)
        defer { bar.finish() }
        do {
            let report = try StoreRestoring(backup, to: target, replaces: replace).run { done, total in bar.update(done, of: total) }
            bar.finish()
            var answer: JSONObject = ["store": .string(report.path), "masterFingerprint": .string(report.masterFingerprint)]
            answer["keyFile"] = report.keyFile.map { .string($0) }
            if !report.replaced.isEmpty { answer["replaced"] = .array(report.replaced.map { .string($0) }) }
            try Printing.out(JSONValue.object(answer).text)
            if report.keyFile == nil {
                if case .file(let path) = target.store {
                    Printing.err(
                        "The master key was not copied. Copy the key \(report.masterFingerprint) to \(path).key, or pass it to every process on "
                            + "this store with --master-key-file.")
                } else {
                    Printing.err("Pass the master key \(report.masterFingerprint) to every process on this store.")
                }
            }
        } catch is StoreCopying.SameStore {
            throw ValidationError("The backup and the store are the same store.")
        } catch {
            bar.finish()
            throw Printing.failure(error)
        }
    }
}
