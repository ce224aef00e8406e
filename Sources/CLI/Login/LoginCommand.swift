import Arguments
import Contract
import Glibc
import JSON
import Mintmark

/// `mintmark login`
struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Sign in, for mintmark token.",
        discussion: """
            Opens the browser at an identity provider of the tenant, waits for the callback to this machine, and stores the session,
            encrypted, in the store. Create the identity provider once when you set up the store:

              mintmark call --app shop idp.create providerId=google.com responseType=code \\
                clientId=… clientSecret=@google.secret
              mintmark login --app shop
              curl -H "Authorization: Bearer $(mintmark token --app shop)" https://api.example.com/

            The URL is also printed, in case no browser opens. BROWSER selects another program than xdg-open. If this machine has no
            browser, --device shows a code to enter on another device, and --email signs in with an email address and its password
            or a one-time code. If the account has a second factor, the command requests its code as well. Input is read from the
            terminal, or line by line from standard input.

            A previous session is ended. Exit status 1: the sign-in failed.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @OptionGroup var output: ColorOption

    @Option(help: ArgumentHelp("The provider, such as google.com. (default: the only one that the tenant has)", valueName: "provider"))
    var provider: String?

    @Option(help: ArgumentHelp("The tenant of the account. (default: default)", valueName: "tenant"))
    var tenant: String?

    @Option(
        help: ArgumentHelp(
            "Sign in with this email address and its password or a one-time code instead of a provider.", valueName: "address"))
    var email: String?

    @Flag(help: "Only print the URL, without opening a browser.")
    var noBrowser = false

    @Flag(help: "Sign in on another device by entering a code there.")
    var device = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The port of the callback on 127.0.0.1, if the provider requires a fixed one. (default: any)", valueName: "port")
    )
    var callbackPort: Int?

    @Option(
        help: ArgumentHelp("The path of the callback, if the provider requires a fixed one. (default: a random path)", valueName: "path"))
    var callbackPath: String?

    func run() throws {
        let settings = options.settings
        if email != nil, provider != nil || device { throw ValidationError("--email cannot be combined with --provider and --device.") }
        // The command line takes precedence over the environment.
        let email = email ?? (provider == nil && !device ? Environment["EMAIL"] : nil)
        let (device, noBrowser) = (try Environment.flag("DEVICE", or: device), try Environment.flag("NO_BROWSER", or: noBrowser))
        var listen = JSONObject()
        if let port = try callbackPort.map({ Int64($0) }) ?? Environment.integer("CALLBACK_PORT") {
            listen["port"] = .number(JSONNumber(port))
        }
        listen["path"] = (callbackPath ?? Environment["CALLBACK_PATH"]).map { .string($0) }
        let store = try LocalSessionStore(settings)
        defer { store.close() }
        let steps = SignInSteps(calls: store.calls, tenant: tenant ?? Environment["TENANT"] ?? "default")
        let answer: JSONValue
        if let email {
            answer = try steps.withAddress(email)
        } else {
            let provider =
                try provider ?? Environment["PROVIDER"]
                ?? ProviderChoice(store.calls, steps.tenant, commandOptions: settings.commandText).only()
            answer =
                device
                ? try steps.onDevice(provider) : try steps.inBrowser(provider, listen: listen, opensBrowser: !noBrowser)
        }
        try store.keep(answer)
        let account = answer["account"] ?? [:]
        let name = account["username"]?.string ?? account["email"]?.string ?? account["accountId"]?.string ?? ""
        try Printing.out("Signed in as \(name). \(Printing.bold("mintmark token\(settings.commandText)")) prints a token.")
    }
}
