import Arguments
// The entry point, which leads to `main`.
import CRelocation
import JSON
import JSONRPC
import Mintmark
import Platform

struct MintmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mintmark",
        abstract: "An identity service in one process: JSON-RPC, one message per line, over standard input and output.",
        discussion: """
            Without a command, mintmark runs serve: send one request per line, read one response per line, and close standard input to exit.

              echo '{"jsonrpc":"2.0","id":1,"method":"system.ping"}' |
                mintmark serve --store :memory:
              mintmark call system.info
              mintmark describe token.mintForDeveloper

            The default store is mintmark/default.db in XDG_DATA_HOME, which defaults to ~/.local/share.

            Every option can also be given in the environment, as MINTMARK_ and its name: MINTMARK_STORE, MINTMARK_MASTER_KEY_FILE. \
            MINTMARK_MASTER_KEY is the master key itself. --color never and NO_COLOR switch colors off.

            Exit status: 0 success; 1 the method failed; 2 the store cannot be used (serve first returns the reason for every request); \
            3 no user is signed in; 64 wrong usage; 74 input or output failed.
            """,
        version: Mintmark.version,
        subcommands: [
            Serve.self, CallCommand.self, ShellCommand.self, Methods.self, Describe.self, Demo.self, LoginCommand.self, TokenCommand.self,
            LogoutCommand.self, WhoamiCommand.self, SignupCommand.self, MfaCommand.self, GraphCommand.self, InspectCommand.self,
            Doctor.self, JwksCommand.self, Keygen.self, BackupCommand.self, RestoreCommand.self, CopyCommand.self,
            RekeyCommand.self, Migrate.self, RunCommand.self, Mcp.self, ConsoleCommand.self,
            ExecCommand.self, AWSCredentialsCommand.self, ContainerCredentialsCommand.self, GCPCredentialsCommand.self,
            AzureTokenFileCommand.self, GitCredentialCommand.self,
            KubeCredential.self, Configure.self, Completions.self, ManCommand.self, Docs.self,
        ],
        defaultSubcommand: Serve.self,
        headings: [
            Serve._commandName: "Call methods", LoginCommand._commandName: "Sign in on the command line",
            GraphCommand._commandName: "Inspect",
            Keygen._commandName: "Keys, backups and moves of a store", RunCommand._commandName: "Tests, language models and the browser",
            ExecCommand._commandName: "Credentials for other tools", Completions._commandName: "Documentation and completions",
        ])

    static func main() {
        // Also blocks debuggers of other processes of this user; `--allow-core-dumps` reverts it.
        ProcessMemory.forbidCoreDumps()
        var arguments = Array(CommandLine.arguments.dropFirst())
        do {
            arguments = try ColorChoice.taken(from: arguments)
            try ColorChoice.checkEnvironment()
        } catch { ExitStatus.end(with: error, of: MintmarkCommand.self) }
        if ["-v", "-V", "version"].contains(arguments.first) { arguments[0] = "--version" }
        Signals.ignoreBrokenPipes()
        if arguments.count > 1, arguments[0] == "--version" { printVersion(arguments.dropFirst()) }
        var type: any ParsableCommand.Type = MintmarkCommand.self
        do {
            Pager.begin(arguments)
            if arguments.first == "help", try HelpTopics.handle(arguments.dropFirst().filter { $0 != "--no-pager" }) {
                return try Pager.finish()
            }
            try UnknownCommand.refuse(arguments)
            var command = try parseAsRoot(arguments)
            type = Swift.type(of: command)
            try command.run()
            try Pager.finish()
        } catch { ExitStatus.end(with: error, of: type) }
    }

    /// Prints the version as JSON, or refuses other arguments after `version`.
    private static func printVersion(_ arguments: ArraySlice<String>) {
        do {
            guard arguments.elementsEqual(["--json"]) else {
                throw ValidationError("version accepts only --json, not \(arguments.joined(separator: " ")).")
            }
            let result: JSONValue = [
                "version": .string(Mintmark.version), "schemaVersion": .number(JSONNumber(Int64(Mintmark.schemaVersion))),
            ]
            try Printing.out(result.text)
            ExitStatus.end(with: ExitCode.success, of: MintmarkCommand.self)
        } catch { ExitStatus.end(with: error, of: MintmarkCommand.self) }
    }
}
