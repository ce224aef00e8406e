import Arguments
import Mintmark

/// `mintmark migrate`
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Migrate a store to the current schema version, and print both versions.",
        discussion: """
            A program supports its own schema version and the next one, so processes of the previous version continue to work during and
            after the migration. Opening a store migrates it as well, unless --migrate is never. The command does not create a file;
            in an empty PostgreSQL database, it creates the tables.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Flag(help: "Print both versions without migrating.")
    var dryRun = false

    @OptionGroup var progress: ProgressOption

    func run() throws {
        let style = try progress.style()
        if dryRun { return try printVersions() }
        let mintmark = try Mintmark(options.settings, logsTo: nil)
        let bar = ProgressBar("Migrating", unit: "steps", style: style)
        defer { bar.finish() }
        bar.tick()
        do {
            let (from, to) = try mintmark.migrate { bar.update($0, of: $1) }
            bar.finish()
            switch from {
            case 0: try Printing.out("a new store, schema version \(to)")
            case to: try Printing.out("schema version \(to): already current")
            default: try Printing.out("schema version \(from) → \(to)")
            }
        } catch {
            bar.finish()
            throw Printing.failure(error)
        }
    }

    private func printVersions() throws {
        do {
            let (from, to) = try Mintmark(options.settings, logsTo: nil).schemaVersions()
            switch from {
            case 0: try Printing.out("no store yet; mintmark migrate would create schema version \(to)")
            case to...: try Printing.out("schema version \(from): already current")
            default: try Printing.out("schema version \(from); mintmark migrate would change it to \(to)")
            }
        } catch { throw Printing.failure(error) }
    }
}
