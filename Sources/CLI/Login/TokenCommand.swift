import Accounts
import Arguments
import Contract
import Mintmark

/// `mintmark token`
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print a valid token of the signed-in user.",
        discussion: """
            Prints only the ID token, or with --access the access token, of the session started by `mintmark login`. A previously printed
            token is printed again if it is valid for at least five more minutes. Otherwise the session is refreshed. Several processes
            can run the command at the same time.

              curl -H "Authorization: Bearer $(mintmark token --access)" https://api.example.com/

            Exit status 3: no user is signed in, or the session has ended. No token is printed; run `mintmark login`.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @OptionGroup var output: ColorOption

    @Flag(help: "Print the access token instead of the ID token.")
    var access = false

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The minimum remaining lifetime of the token. (default: 300)", valueName: "seconds"))
    var minValid: Int64?

    func run() throws {
        let settings = options.settings
        let access = try Environment.flag("ACCESS", or: access)
        let seconds = try minValid ?? Environment.integer("MIN_VALID") ?? 300
        guard 0...86_400 ~= seconds else {
            throw ValidationError("\(OptionValue.source("--min-valid", isGiven: minValid != nil)) must be between 0 and 86400 seconds.")
        }
        let isAsked = try minValid != nil || Environment.integer("MIN_VALID") != nil
        let tokens = try Self.tokens(of: settings, goodFor: seconds, strictly: isAsked)
        try Printing.out(access ? tokens.accessToken : tokens.idToken)
    }

    /// Returns the tokens of the stored session.
    ///
    /// - Parameter strictly: Whether tokens that are valid for less time are rejected, even if no others are available.
    /// - Throws: `ExitCode` after an error message: 3 if no user is signed in. `ValidationError`.
    static func tokens(of settings: StoreSettings, goodFor seconds: Int64, strictly: Bool = false) throws -> LocalSessions.Tokens {
        func nobody(_ why: String) -> ExitCode {
            Printing.err("\(Printing.errorWord) \(why) Run: mintmark login\(settings.commandText)")
            return ExitCode(3)
        }
        if let path = try settings.missingStore() { throw nobody("No user is signed in: the store \(path) does not exist.") }
        let store = try LocalSessionStore(settings)
        defer { store.close() }
        do {
            guard let tokens = try store.tokens(goodFor: seconds) else { throw nobody("No user is signed in.") }
            if strictly, let lifetime = tokens.lifetime, lifetime < seconds {
                Printing.err(
                    "\(Printing.errorWord) --min-valid asks for \(seconds) s, and tokens of this tenant live \(lifetime) s. "
                        + "Ask for less, or set longer lifetimes with tenant.update.")
                throw ExitCode(1)
            }
            return tokens
        } catch let error as ExitCode {
            throw error
        } catch let error {
            switch contractError(error) {
            case is RefreshTokenExpired, is SessionExpired, is RefreshTokenReused, is RefreshTokenInvalid:
                throw nobody("The session has ended.")
            default: throw Printing.failure(error)
            }
        }
    }
}
