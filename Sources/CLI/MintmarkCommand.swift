import ArgumentParser
import JSONRPC
import Mintmark

@main
struct MintmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mintmark",
        abstract: "An identity service in one process: JSON-RPC, one message per line, over standard input and output.",
        discussion: """
            Without a command it serves: send one request per line, read one answer per line, close standard input to end it.

              echo '{"jsonrpc":"2.0","id":1,"method":"system.ping"}' |
                mintmark serve --store :memory:
              mintmark call system.info
              mintmark describe token.mintForDeveloper

            Without --store and --app the store is <data folder>/mintmark/default.db; the data folder is XDG_DATA_HOME or ~/.local/share.

            Every option can also be given in the environment, as MINTMARK_ and its name: MINTMARK_STORE, MINTMARK_MASTER_KEY_FILE. \
            MINTMARK_MASTER_KEY is the master key itself.

            Exit codes: 0 done; 1 the request was answered with an error; 2 the store cannot be used (serve answers every request with \
            the reason first); 3 nobody is signed in (token); 64 wrong usage; 74 the output cannot be written, or the input not be read.
            """,
        version: Mintmark.version,
        subcommands: [
            Serve.self, CallCommand.self, Methods.self, Describe.self, Demo.self, LoginCommand.self, TokenCommand.self,
            LogoutCommand.self, Doctor.self, JwksCommand.self, BackupCommand.self, Migrate.self, Mcp.self,
            KubeCredential.self, Configure.self, Completions.self,
        ],
        defaultSubcommand: Serve.self)

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let settings = PlainServe.settings(arguments) {
            do { try settings.serve() } catch { Ending.end(with: error, of: Serve.self) }
            return
        }
        Signals.ignoreBrokenPipes()
        var command: any ParsableCommand
        do {
            try UnknownCommand.refuse(arguments)
            command = try parseAsRoot(arguments)
        } catch { Ending.endUnparsed(with: error) }
        do { try command.run() } catch { Ending.end(with: error, of: type(of: command)) }
    }
}
