import Arguments
import Mintmark

/// `mintmark logout`
struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "End the session of mintmark login.",
        discussion: "The tokens of the session become invalid. If no user is signed in, the command prints a message and succeeds.")

    @OptionGroup(title: "Store") var options: StoreOptions

    @OptionGroup var output: ColorOption

    func run() throws {
        let store = try LocalSessionStore(options.settings)
        defer { store.close() }
        try Printing.out(try store.end() ? "Signed out." : "No user was signed in.")
    }
}
