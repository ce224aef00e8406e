import Arguments
import Contract
import Mintmark
import ServiceContext

/// `mintmark backup`
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write a consistent backup of the store without stopping the service.",
        discussion: """
            The backup is a complete store at a single point in time. It never overwrites an existing file. Opening it requires the master
            key whose fingerprint is printed: keep that key too, in another place. The backup of a PostgreSQL store is a SQLite store.

              mintmark backup --store shop.db /backups/shop-monday.db
              mintmark doctor --store /backups/shop-monday.db --master-key-file shop.db.key
              mintmark restore --store shop.db /backups/shop-monday.db
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Argument(help: "The path of the file to create. Its directory must exist.", completion: .file())
    var path: String

    @OptionGroup var progress: ProgressOption

    func validate() throws {
        if path == ":memory:" { throw ValidationError("A backup is a file. Name a file that does not exist yet.") }
    }

    func run() throws {
        let style = try progress.style()
        var configuration = try options.settings.configuration()
        configuration.makesStores = false
        let mintmark = Mintmark(configuration)
        defer { mintmark.close() }
        var unit = "rows"
        if case .file = configuration.store { unit = "pages" }
        let bar = ProgressBar("Backing up", unit: unit, style: style)
        defer { bar.finish() }
        do {
            let copy = try mintmark.services().store.backup(StoreBackup.Params(path: path), OwnCall()) { done, total in
                bar.update(done, of: total)
            }
            bar.finish()
            try Printing.out("\(copy.path): \(copy.bytes) bytes, requires the master key \(copy.masterFingerprint)")
        } catch {
            bar.finish()
            throw Printing.failure(error)
        }
    }
}
