import Arguments
import JSON

/// `mintmark signup`
struct SignupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signup", abstract: "Create an account and sign in, for mintmark token.",
        discussion: """
            Asks for what the tenant demands: the code sent to the address, a password (twice), and attributes. Then signs in as mintmark \
            login does. Input is read from the terminal, or line by line from standard input.

              mintmark signup --app shop --email alice@example.com
              mintmark signup --email alice@example.com --attribute givenName=Alice
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Option(help: ArgumentHelp("The email address.", valueName: "address"))
    var email: String?

    @Option(help: ArgumentHelp("The tenant. (default: default)", valueName: "tenant"))
    var tenant: String?

    @Option(help: ArgumentHelp("A user attribute. Can be given several times.", valueName: "name=value"))
    var attribute: [String] = []

    func run() throws {
        var attributes = JSONObject()
        for text in attribute {
            guard let mark = text.firstIndex(of: "="), mark != text.startIndex else {
                throw ValidationError("--attribute '\(text)' has no name and value. Write --attribute name=value.")
            }
            let name = String(text[..<mark])
            guard attributes[name] == nil else { throw ValidationError("--attribute \(name) is given twice.") }
            attributes[name] = .string(String(text[text.index(after: mark)...]))
        }
        let store = try LocalSessionStore(options.settings)
        defer { store.close() }
        let steps = SignInSteps(calls: store.calls, tenant: tenant ?? Environment["TENANT"] ?? "default")
        guard let address = email ?? Environment["EMAIL"] ?? Terminal.ask("Email address: ", isHidden: false), !address.isEmpty else {
            throw ValidationError("No address is given. Add --email ADDRESS.")
        }
        let answer = try SignUpSteps(signIn: steps, attributes: attributes).run(address)
        try store.keep(answer)
        let command = "mintmark token\(options.settings.commandText)"
        try Printing.out("Signed up and signed in as \(address). \(Printing.bold(command)) prints a token.")
    }
}
