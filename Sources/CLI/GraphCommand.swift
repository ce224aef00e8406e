import Arguments
import Contract
import Glibc
import JSON

/// `mintmark graph`
struct GraphCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Show the sign-in methods, factors, sessions and identities of an account.",
        discussion: """
            Prints the sign-in methods, second factors, sessions and identities of an account: as a tree on a terminal, otherwise as \
            JSON, or \
            in the language of a drawing program. The default is the account of the signed-in user.

              mintmark graph alice@example.com
              mintmark graph --format dot alice@example.com | dot -Tpng > alice.png
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Option(help: ArgumentHelp("tree, mermaid, dot or svg.", valueName: "format"), completion: .list(Self.formats))
    var format: String?

    @Option(help: ArgumentHelp("The tenant of the email address. (default: default)", valueName: "tenant"))
    var tenant: String?

    @Argument(help: "The ID or the email address of the account.")
    var account: String?

    private static let formats = ["tree", "mermaid", "dot", "svg"]

    func validate() throws {
        guard let format, !Self.formats.contains(format) else { return }
        throw ValidationError("--format must be one of \(Self.formats.joined(separator: ", ")), not '\(format)'.")
    }

    func run() throws {
        var params = JSONObject()
        if account == nil {
            params["idToken"] = .string(try TokenCommand.tokens(of: options.settings, goodFor: 0).idToken)
        }
        let store = try LocalSessionStore(options.settings)
        defer { store.close() }
        if let account {
            let isAddress = account.contains("@")
            let found =
                isAddress
                ? try store.calls.result(
                    "account.find", ["tenantId": .string(tenant ?? Environment["TENANT"] ?? "default"), "email": .string(account)]) : .null
            params["accountId"] = isAddress ? found["accountId"] ?? .null : .string(account)
        }
        let wanted = format ?? (isatty(1) == 1 ? "tree" : nil)
        params["format"] = wanted.map { .string($0) }
        let graph = try store.calls.result("account.graph", .object(params))
        guard let text = graph["text"]?.string else { return try Printing.out(graph.text) }
        try Printing.out(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }
}
