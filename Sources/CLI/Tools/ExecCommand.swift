import Arguments
import Glibc
import Mintmark

/// `mintmark exec`
struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Run a command with temporary credentials for AWS SDKs.",
        discussion: """
            The command gets AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_CREDENTIAL_EXPIRATION, AWS_REGION and
            AWS_DEFAULT_REGION. Other variables that select credentials, such as AWS_PROFILE, are removed. Variables of a running process
            cannot be renewed: for commands that run longer than the credentials, --refresh gives the command an endpoint for container
            credentials instead. SDKs then get new credentials before the old ones expire, and their configuration files are empty,
            because profiles would take precedence.

              mintmark exec --role deploy -- aws s3 ls
              mintmark exec --role deploy --token-file token.jwt --refresh -- python worker.py

            Signals are passed on. The exit code is that of the command: 126 if it cannot be executed, 127 if it is not found, 128 and
            the number of the signal that ended it. Without credentials, the command is not started, and the exit status is 1; 2 if
            the store cannot be used; 3 if no user is signed in.
            """)

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @Flag(help: "Give the command an endpoint that renews the credentials, in place of variables.")
    var refresh = false

    @OptionGroup(title: "Store") var options: StoreOptions

    @Argument(parsing: .postTerminator, help: ArgumentHelp("After --: the command and its arguments.", valueName: "command"))
    var command: [String]

    func validate() throws {
        if command.isEmpty {
            throw ValidationError("No command is given. Write it after --, such as mintmark exec --role deploy -- aws s3 ls.")
        }
    }

    /// The variables that would select other credentials, or other sources of them.
    private static let replaced: Set<String> = [
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_CREDENTIAL_EXPIRATION",
        "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN",
        "AWS_ROLE_SESSION_NAME", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CREDENTIAL_FILE", "AWS_ACCOUNT_ID",
    ]

    func run() throws {
        let request = try credentials.request()
        // Before any other thread starts.
        let child = ChildProcess()
        var status: Int32 = 0
        try ToolFailure.reporting {
            let store = try ToolStore(options.settings, for: request.source)
            defer { store.close() }
            let cache = CredentialCache(store, request)
            let first = try cache.credentials()
            var variables = ExportedVariables(removing: Self.replaced)
            setRegion(&variables, request, store)
            var server: CredentialServer?
            defer { server?.stop() }
            if refresh {
                let started = try CredentialServer(port: 0, cache)
                server = started
                variables.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", started.url)
                variables.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", started.tokenFile)
                // A profile in these files would take precedence over the endpoint.
                for name in ["AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"] { variables.set(name, "/dev/null") }
            } else {
                variables.set("AWS_ACCESS_KEY_ID", first.accessKeyId)
                variables.set("AWS_SECRET_ACCESS_KEY", first.secretAccessKey)
                variables.set("AWS_SESSION_TOKEN", first.sessionToken)
                variables.set("AWS_CREDENTIAL_EXPIRATION", first.expiration)
                if let account = first.accountId { variables.set("AWS_ACCOUNT_ID", account) }
            }
            if let signal = child.isEndingSignalPending { throw ExitCode(128 + signal) }
            do throws(ChildProcess.NotStarted) { status = try child.run(command, variables.environment) } catch {
                Printing.err("Error: The command \(command[0]) cannot be started: \(error.reason).")
                status = error.status
            }
        }
        throw ExitCode(status)
    }

    /// Sets the region of the option or of the endpoint; otherwise that of the environment stays, or the region of the store is used.
    private func setRegion(_ variables: inout ExportedVariables, _ request: CredentialRequest, _ store: ToolStore) {
        let ambient = Environment.plain("AWS_REGION") ?? Environment.plain("AWS_DEFAULT_REGION")
        let region = options.region ?? request.endpoint?.region ?? ambient ?? store.realm.region
        for name in ["AWS_REGION", "AWS_DEFAULT_REGION"] { variables.set(name, region) }
    }
}
