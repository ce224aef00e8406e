import ArgumentParser
import Contract
import Identity
import Mintmark

/// `mintmark token`
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print a fresh token of whoever is signed in here.",
        discussion: """
            Prints the ID token of the session that `mintmark login` keeps, and nothing else on standard output; with --access the access
            token. One that was printed before comes again while it is good for five minutes more, else the session is refreshed. Any
            number of processes may ask at once.

              curl -H "Authorization: Bearer $(mintmark token --access)" https://api.example.com/

            Exit code 3: nobody is signed in, or the session has ended. Then nothing is printed; run `mintmark login`.
            """)

    @OptionGroup var options: StoreOptions

    @Flag(help: "Print the access token, not the ID token.")
    var access = false

    @Option(
        parsing: .unconditional, help: ArgumentHelp("For how long the token has to be good still. (default: 300)", valueName: "seconds"))
    var minValid: Int64?

    func run() throws {
        let settings = options.settings
        let access = try Environment.flag("ACCESS", or: access)
        let seconds = try minValid ?? Environment.integer("MIN_VALID") ?? 300
        guard 0...86_400 ~= seconds else { throw ValidationError("--min-valid is between 0 and 86400 seconds.") }
        let tokens = try Self.tokens(of: settings, goodFor: seconds)
        try Printing.out(access ? tokens.accessToken : tokens.idToken)
    }

    /// The tokens of the session that is kept.
    ///
    /// - Throws: `ExitCode`, when the reason has been said: 3 if nobody is signed in.
    static func tokens(of settings: StoreSettings, goodFor seconds: Int64) throws -> OwnSessions.Tokens {
        let store = try OwnStore(settings)
        defer { store.close() }
        func nobody(_ why: String) -> ExitCode {
            Printing.err("\(Printing.red("error")) \(why) Run: mintmark login\(settings.commandText)")
            return ExitCode(3)
        }
        do {
            guard let tokens = try store.tokens(goodFor: seconds) else { throw nobody("Nobody is signed in.") }
            return tokens
        } catch let error {
            switch contractError(error) {
            case is RefreshTokenExpired, is RefreshTokenReused, is RefreshTokenInvalid: throw nobody("The session has ended.")
            default: throw Printing.failure(error)
            }
        }
    }
}
