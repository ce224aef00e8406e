import Arguments
import Mintmark

/// `mintmark mcp`
struct Mcp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Run a Model Context Protocol server that exposes methods as tools.",
        discussion: """
            Supports the revisions 2025-06-18, 2025-11-25 and 2026-07-28 over standard input and output. The configuration of a host:

              {"mcpServers": {"mintmark": {"command": "mintmark",
                "args": ["mcp", "--app", "shop", "--allow", "write"]}}}

            By default, the tools only read, and carry no secrets. --allow write adds tools that create and change, --allow destroy also \
            those that delete, revoke, merge and reset. --allow secrets adds tools with tokens, passwords, codes, keys and credentials, \
            which the model and its operator can then read.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Option(
        help: ArgumentHelp(
            "The permissions of the model, with commas: read, write, destroy, secrets or all. (default: read)", valueName: "levels"),
        completion: .list(["read", "write", "destroy", "read,secrets", "write,secrets", "all"]))
    var allow: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The tools: names, patterns such as account_*, the toolsets accounts, signin, pools, credentials, keys, audit, store, testing, \
            default and all, and each of them with - to leave it out, separated by commas. (default: default; with --allow all: all)
            """, valueName: "tools"))
    var tools: String?

    @Flag(help: "Include the schemas of the results in the list of tools.")
    var outputSchemas = false

    @OptionGroup var serving: ServingOptions

    func run() throws {
        let given = OptionValue(allow, "--allow", "ALLOW")
        let selected = OptionValue(tools, "--tools", "TOOLS")
        let levels: ToolLevels
        do { levels = try ToolLevels(given?.value, from: given?.source ?? "--allow") } catch { throw ValidationError(error.message) }
        var settings = ServeSettings(store: options.settings)
        serving.add(to: &settings)
        try settings.serveTools(
            ToolSettings(
                levels: levels, tools: selected?.value, toolsSource: selected?.source ?? "--tools", outputSchemas: outputSchemas))
    }
}
