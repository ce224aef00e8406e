import Arguments
import JSONRPC
import Mintmark

/// `mintmark mcp`
struct Mcp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Run a Model Context Protocol server that exposes methods as tools.",
        discussion: """
            Supports the revisions 2025-06-18 and 2025-11-25 over standard input and output. The configuration of a host:

              {"mcpServers": {"mintmark": {"command": "mintmark",
                "args": ["mcp", "--app", "shop", "--allow", "admin"]}}}

            By default, only public methods without secrets are available. --allow admin adds developer methods. --allow secrets adds \
            methods with tokens, passwords, codes and credentials, which the model and its operator can then read.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Option(
        help: ArgumentHelp("Additional methods: admin, secrets, or both separated by a comma.", valueName: "grants"),
        completion: .list(["admin", "secrets", "admin,secrets"]))
    var allow: String?

    @OptionGroup var serving: ServingOptions

    func run() throws {
        var settings = ServeSettings(store: options.settings)
        serving.add(to: &settings)
        try settings.serveTools(grants: grants())
    }

    private func grants() throws -> Set<ToolGrant> {
        guard let given = OptionValue(allow, "--allow", "ALLOW") else { return [] }
        let names = given.value.split(separator: ",").map { $0.filter { $0 != " " } }
        return try Set(
            names.map { name in
                guard let grant = ToolGrant(rawValue: String(name)) else {
                    throw ValidationError("\(given.source) must be admin, secrets or admin,secrets, not '\(given.value)'.")
                }
                return grant
            })
    }
}
