import ArgumentParser
import Contract
import Glibc
import JSON
import Mintmark

/// `mintmark login`
struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Sign in, for `mintmark token`.",
        discussion: """
            Opens the browser at an identity provider of the store's tenant, waits for the person to come back to this machine, and
            keeps the session, sealed, in the store. The provider is made once, by whoever sets the store up:

              mintmark call --app shop idp.create '{"providerId": "google.com", "clientId": "…", "clientSecret": "…", "responseType": "code"}'
              mintmark login --app shop
              curl -H "Authorization: Bearer $(mintmark token --app shop)" https://api.example.com/

            The address of the page is printed too, for a browser that does not open by itself. BROWSER names another program than
            xdg-open. Where there is no browser on this machine, --device shows a code to be typed on another one; --email signs in
            with an address, and asks for its password or for the code that is mailed. A second factor is asked for here as well.
            What is asked is read from the terminal, else line by line from standard input.

            A session that was kept before is ended. The exit code is 1 when the sign-in fails.
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: ArgumentHelp("The provider, such as google.com. (default: the only one that the tenant has)", valueName: "provider"))
    var provider: String?

    @Option(help: ArgumentHelp("The tenant whose account it is. (default: default)", valueName: "tenant"))
    var tenant: String?

    @Option(help: ArgumentHelp("Sign in with this address and its password or a mailed code, not with a provider.", valueName: "address"))
    var email: String?

    @Flag(help: "Open no browser, only print the address of the page.")
    var noBrowser = false

    @Flag(help: "Sign in on another device, with a code to be typed there.")
    var device = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The port of 127.0.0.1 to come back to, where the provider takes no other. (default: any)", valueName: "port"))
    var callbackPort: Int?

    @Option(
        help: ArgumentHelp("The path to come back to, where the provider takes no other. (default: one nobody guesses)", valueName: "path"))
    var callbackPath: String?

    func run() throws {
        let settings = options.settings
        if email != nil, provider != nil || device { throw ValidationError("--email goes without --provider and --device.") }
        // What the command line says goes before what the environment says.
        let email = email ?? (provider == nil && !device ? Environment["EMAIL"] : nil)
        let (device, noBrowser) = (try Environment.flag("DEVICE", or: device), try Environment.flag("NO_BROWSER", or: noBrowser))
        var listen = JSONObject()
        if let port = try callbackPort.map({ Int64($0) }) ?? Environment.integer("CALLBACK_PORT") {
            listen["port"] = .number(JSONNumber(port))
        }
        listen["path"] = (callbackPath ?? Environment["CALLBACK_PATH"]).map { .string($0) }
        let store = try OwnStore(settings)
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
