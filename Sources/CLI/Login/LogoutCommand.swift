import Arguments
import Mintmark

/// `mintmark logout`
struct LogoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "End the session of mintmark login.",
        discussion: "The tokens of the session become invalid. Exit status 3: no user is signed in.")

    @OptionGroup(title: "Store") var options: StoreOptions

    @OptionGroup var output: ColorOption

    func run() throws {
        if let path = try options.settings.missingStore() { throw nobody(": the store \(path) does not exist") }
        let store = try LocalSessionStore(options.settings)
        defer { store.close() }
        guard try store.end() else { throw nobody("") }
        try Printing.out("Signed out.")
    }

    private func nobody(_ why: String) -> ExitCode {
        Printing.err("\(Printing.errorWord) No user was signed in\(why). There is nothing to end.")
        return ExitCode(3)
    }
}
