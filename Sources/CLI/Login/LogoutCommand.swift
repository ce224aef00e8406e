import ArgumentParser
import Mintmark

/// `mintmark logout`
struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "End the session that `mintmark login` keeps, and forget it.",
        discussion: "Its tokens are refused from then on. Where nobody is signed in, it says so, and that is no failure.")

    @OptionGroup var options: StoreOptions

    func run() throws {
        let store = try OwnStore(options.settings)
        defer { store.close() }
        try Printing.out(try store.end() ? "Signed out." : "Nobody was signed in.")
    }
}
