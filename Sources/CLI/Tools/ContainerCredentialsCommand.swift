import Arguments
import Glibc
import JSONRPC

/// `mintmark container-credentials`
struct ContainerCredentialsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "container-credentials", abstract: "Serve temporary credentials to the AWS SDKs of this machine.",
        discussion: """
            Listens on 127.0.0.1, prints two variables for AWS SDKs, and serves credentials until SIGTERM, or with --parent until a process
            ends. The SDKs renew the credentials by themselves. The URL has a random path, and every request must have the authorization
            token, which is in a file that only this user can read.

              mintmark container-credentials --role deploy >aws.env &
              env $(cat aws.env) aws sts get-caller-identity

            `mintmark exec --refresh` does the same for one command. An error is returned as {"code", "message"}, with the status 401 if no
            user is signed in, 400 for a refused exchange and 503 for a failure that can be temporary.
            """)

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("The port on 127.0.0.1. (default: any free port)", valueName: "port"))
    var port: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Exit when the process with this PID exits.", valueName: "pid"))
    var parent: Int32?

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        let request = try credentials.request()
        guard let port = UInt16(exactly: port ?? 0) else { throw ValidationError("--port must be between 0 and 65535.") }
        let parent = try parent ?? Environment.integer("PARENT").flatMap { Int32(exactly: $0) }
        if let parent, parent < 0 { throw ValidationError("--parent must be a process ID, or 0 for none.") }
        try ToolFailure.reporting {
            let end = try EndPipe()
            // Before any other thread starts.
            Signals.take { end.end() }
            let store = try ToolStore(options.settings, for: request.source)
            defer { store.close() }
            let server = try CredentialServer(port: port, CredentialCache(store, request))
            defer { server.stop() }
            if let parent, parent > 0 { ParentWatch.start(parent) { end.end() } }
            try Printing.out(
                """
                AWS_CONTAINER_CREDENTIALS_FULL_URI=\(server.url)
                AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=\(server.tokenFile)
                """)
            _ = end.wait()
        }
    }
}
