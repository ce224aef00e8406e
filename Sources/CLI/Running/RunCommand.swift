import Arguments
import Glibc
import JSON
import Mintmark

/// `mintmark run`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a command with a new testing store, and remove the store afterwards.",
        discussion: """
            The command finds the store in MINTMARK_STORE: every mintmark command in it uses this store, as does each client if no \
            store is named. The exit code is that of the command: 126 if it cannot be executed, 127 if it is not found, 128 and the \
            number of the signal that ended it.

              mintmark run -- sh -c 'mintmark call tenant.list'
              mintmark run --idp -- pytest
              mintmark run --idp shop staff --apply config.json --accounts people.jsonl -- npm test
            """)

    @Option(help: ArgumentHelp("A testing store to use in place of a new one. It is kept.", valueName: "store"), completion: .file())
    var store: String?

    @Option(
        defaultAsFlag: "default",
        help: ArgumentHelp(
            "Start a test OpenID provider with these issuers, whose login page takes every address. "
                + "Sets OIDC_ISSUER, OIDC_DISCOVERY_URL, JWKS_URL, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and MINTMARK_IDP_ISSUERS.",
            valueName: "names"))
    var idp: String?

    @Flag(help: "Start an endpoint for AWS SDKs. Sets AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION.")
    var aws = false

    @Option(
        defaultAsFlag: "mintmark",
        help: ArgumentHelp("Derive all IDs, keys and codes from this text, so that they are the same on each run.", valueName: "text"))
    var seed: String?

    @Option(help: ArgumentHelp("The path of a document for system.apply.", valueName: "file"), completion: .file())
    var apply: String?

    @Option(help: ArgumentHelp("The path of a file of accounts for account.import.", valueName: "file"), completion: .file())
    var accounts: String?

    @Flag(help: "Keep the folder of the store, and print it to standard error.")
    var keep = false

    @Option(
        help: ArgumentHelp("The path of a file for the variables, too. Only this user can read it.", valueName: "file"), completion: .file()
    )
    var envFile: String?

    @Argument(help: ArgumentHelp("More issuers, then -- and the command with its arguments.", valueName: "command"))
    var words: [String] = []

    /// The words after `--`. The argument parser does not separate them from the words before `--`.
    private static var command: [String] {
        CommandLine.arguments.firstIndex(of: "--").map { Array(CommandLine.arguments[($0 + 1)...]) } ?? []
    }

    func validate() throws {
        let (command, issuers) = (Self.command, words.dropLast(Self.command.count))
        if command.isEmpty {
            throw ValidationError("No command is given. Write it after --, such as mintmark run --idp -- pytest.")
        }
        if idp == nil, let first = issuers.first { throw ValidationError("'\(first)' is no option. The command comes after --.") }
    }

    func run() throws {
        let (command, issuers) = (Self.command, Array(words.dropLast(Self.command.count)))
        // Before any other thread starts.
        let child = ChildProcess()
        let document = try OptionValue(apply, "--apply").map { try ApplyFile($0) }
        var folder: PrivateFolder?
        if store == nil {
            guard let made = PrivateFolder("mintmark-run") else {
                Printing.err("\(Printing.errorWord) No folder for the store can be created: \(String(cString: strerror(errno))).")
                throw ExitCode(74)
            }
            folder = made
        }
        var status: Int32 = 0
        do {
            defer {
                if keep, let folder { Printing.err(folder.path) } else { folder?.remove() }
            }
            let session = try RunSession(store: store, folder: folder?.path)
            defer { session.close() }
            try session.prepare(seed: seed, document, accounts: accounts)
            if let idp { try session.startProvider(idp.split(separator: ",").map(String.init) + issuers) }
            if aws { try session.startEndpoint() }
            if let envFile, let reason = session.variables.write(to: envFile) {
                Printing.err("\(Printing.errorWord) --env-file \(envFile) cannot be written: \(reason).")
                throw ExitCode(74)
            }
            if let signal = child.isEndingSignalPending { throw ExitCode(128 + signal) }
            do throws(ChildProcess.NotStarted) { status = try child.run(command, session.variables.environment) } catch {
                Printing.err("Error: The command \(command[0]) cannot be started: \(error.reason).")
                status = error.status
            }
        }
        throw ExitCode(status)
    }
}
