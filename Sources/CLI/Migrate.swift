import ArgumentParser
import Mintmark

/// `mintmark migrate`
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the tables of a store up to date, and say from which version to which.",
        discussion: """
            A program works with a store of its own schema version or the next one, so processes of the version before go on while
            and after this runs. Opening a store does the same, unless --migrate never says that it must not. A file that is not there
            is not made; an empty PostgreSQL database gets its tables.
            """)

    @OptionGroup var options: StoreOptions

    func run() throws {
        let mintmark = try Mintmark(options.settings, logsTo: nil)
        do {
            let (from, to) = try mintmark.migrate()
            switch from {
            case 0: try Printing.out("a new store, schema version \(to)")
            case to: try Printing.out("schema version \(to): nothing to do")
            default: try Printing.out("schema version \(from) → \(to)")
            }
        } catch { throw Printing.failure(error) }
    }
}
