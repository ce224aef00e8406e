import Arguments
import JSON

/// `mintmark mfa`
struct MfaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mfa", abstract: "Manage the second factors of the signed-in user.", subcommands: [Enroll.self])

    /// `mintmark mfa enroll`
    struct Enroll: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enroll", abstract: "Add an authenticator app as a second factor.",
            discussion: """
                Shows the QR code and the secret for the app, and asks for its first code. The sign-in must be at most five minutes old: \
                run \
                mintmark login first.

                  mintmark mfa enroll --app shop
                """)

        @OptionGroup(title: "Store") var options: StoreOptions

        @Option(help: ArgumentHelp("The name of the factor.", valueName: "name"))
        var name: String?

        func run() throws {
            let tokens = try TokenCommand.tokens(of: options.settings, goodFor: 0)
            let store = try LocalSessionStore(options.settings)
            defer { store.close() }
            let steps = SignInSteps(calls: store.calls, tenant: "")
            let answer = try steps.enrolled(["idToken": .string(tokens.idToken)], name: name)
            if answer["refreshToken"] != nil { try store.keep(answer) }
            try Printing.out("The authenticator app is now a second factor of your account.")
        }
    }
}
