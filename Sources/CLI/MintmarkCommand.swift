import ArgumentParser
import Mintmark

@main
struct MintmarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mintmark",
        abstract: "An identity service in one process: JSON-RPC, one message per line, over standard input and output.",
        discussion: """
            Without a command it serves: send one request per line, read one answer per line, close standard input to end it.

              echo '{"jsonrpc":"2.0","id":1,"method":"system.ping"}' | mintmark serve --store :memory:
              mintmark call system.info
              mintmark describe token.mintForDeveloper

            Every option can also be given in the environment, as MINTMARK_ and its name: MINTMARK_STORE, MINTMARK_MASTER_KEY_FILE.

            Exit codes: 0 done; 1 the request was answered with an error; 2 the store cannot be used; 64 wrong usage.
            """,
        version: Mintmark.version,
        subcommands: [
            Serve.self, CallCommand.self, Methods.self, Describe.self, Demo.self, Doctor.self, JwksCommand.self, BackupCommand.self,
            Migrate.self, Completions.self,
        ],
        defaultSubcommand: Serve.self)

    static func main() {
        guard let settings = PlainServe.settings(Array(CommandLine.arguments.dropFirst())) else { return main(nil) }
        do { try settings.serve() } catch { exit(withError: error) }
    }
}
