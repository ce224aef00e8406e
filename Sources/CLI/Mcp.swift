import ArgumentParser
import JSONRPC
import Mintmark

/// `mintmark mcp`
struct Mcp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Offer methods to a language model as tools of the Model Context Protocol.",
        discussion: """
            Speaks the Model Context Protocol, revisions 2025-06-18 and 2025-11-25, over standard input and output. In a host's configuration:

              {"mcpServers": {"mintmark": {"command": "mintmark",
                "args": ["mcp", "--app", "shop", "--allow", "admin"]}}}

            Offered are public methods that neither take nor answer secrets. --allow admin adds those for the developer, --allow secrets \
            those with tokens, passwords, codes and credentials: everything in them is then read by the model, and by whoever runs it.
            """)

    @OptionGroup var options: StoreOptions

    @Option(
        help: ArgumentHelp("What is offered besides: admin, secrets, or both with a comma.", valueName: "grants"),
        completion: .list(["admin", "secrets", "admin,secrets"]))
    var allow: String?

    @OptionGroup var serving: ServingOptions

    func run() throws {
        var settings = ServeSettings(store: options.settings)
        serving.add(to: &settings)
        try settings.serveTools(grants: grants())
    }

    private func grants() throws -> Set<ToolGrant> {
        guard let given = GivenValue(allow, "--allow", "ALLOW") else { return [] }
        let names = given.value.split(separator: ",").map { $0.filter { $0 != " " } }
        return try Set(
            names.map { name in
                guard let grant = ToolGrant(rawValue: String(name)) else {
                    throw ValidationError("\(given.source) is admin, secrets or admin,secrets, not '\(given.value)'.")
                }
                return grant
            })
    }
}
