import Arguments
import Glibc
import JSON
import Platform

/// `mintmark configure`
struct Configure: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print or write the configuration with which another tool gets its credentials from mintmark.",
        discussion: """
            aws: a profile whose credentials come from `mintmark aws-credentials`; --write adds it to the file in AWS_CONFIG_FILE, or to \
            ~/.aws/config. gcp: a credential file of the type external_account, whose tokens come from `mintmark gcp-credentials`. git: a \
            credential helper for https://github.com, `mintmark git-credential`; --write replaces the global helpers for this host.

              mintmark configure aws --profile deploy --role deploy --write
              mintmark configure gcp --audience //iam.googleapis.com/projects/… >gcp.json

            kubectl: a kubeconfig user whose credential is returned by `mintmark kube-credential`. With --write, kubectl adds it to the \
            file in KUBECONFIG, or to ~/.kube/config:

              mintmark configure kubectl --app ops --write
              kubectl config set-context --current --user mintmark

            kubectl 1.20 (Debian 12) crashes when it writes a user; add the printed lines yourself. The API server needs \
            --oidc-issuer-url=<issuer>/tenants/default and --oidc-client-id=default.
            """)

    @Argument(help: "The tool: aws, gcp, git or kubectl.", completion: .list(["aws", "gcp", "git", "kubectl"]))
    var tool: String

    @Flag(help: "Write the configuration into the file of the tool: aws, git and kubectl.")
    var write = false

    @Option(help: ArgumentHelp("aws: the name of the profile. (default: mintmark)", valueName: "name"))
    var profile: String?

    @Option(
        help: ArgumentHelp(
            "gcp: the audience of the workload identity provider, //iam.googleapis.com/projects/…/providers/….", valueName: "audience"))
    var audience: String?

    @Option(help: ArgumentHelp("gcp: the email address of a service account to impersonate. (default: none)", valueName: "address"))
    var serviceAccount: String?

    @Option(help: ArgumentHelp("kubectl: the name of the user in the kubeconfig. (default: mintmark)", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp(
            "kubectl: the version of the credential API: v1, or v1beta1 for kubectl before 1.24. (default: v1)", valueName: "version"),
        completion: .list(["v1", "v1beta1"]))
    var apiVersion: String?

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        switch tool {
        case "aws": try configureAWS()
        case "gcp": try configureGCP()
        case "git": try configureGit()
        case "kubectl": try configureKubectl()
        default: throw ValidationError("Unknown tool '\(tool)'. The supported tools are aws, gcp, git and kubectl.")
        }
    }

    private func configureAWS() throws {
        let arguments = try ["aws-credentials"] + credentials.arguments() + options.settings.storeArguments()
        _ = try options.settings.configuration()
        let region = try options.region ?? credentials.request().endpoint?.region
        let profile = try AWSProfile(name: profile ?? "mintmark", command: [Self.program()] + arguments, region: region)
        if write { return try Printing.out(profile.add()) }
        try Printing.out(profile.lines)
    }

    private func configureGCP() throws {
        if write { throw ValidationError("--write is not possible for gcp. Write standard output into the credential file.") }
        guard let audience = audience ?? Environment["AUDIENCE"] else {
            throw ValidationError(
                "--audience is missing: the audience of the workload identity provider, such as //iam.googleapis.com/projects/….")
        }
        let arguments =
            try ["gcp-credentials", "--audience", audience] + credentials.source.arguments() + options.settings.storeArguments()
        _ = try options.settings.configuration()
        let file = try GCPCredentialFile(
            audience: audience, command: [Self.program()] + arguments, serviceAccount: serviceAccount)
        try Printing.out(file.text)
    }

    private func configureGit() throws {
        _ = try options.settings.configuration()
        let helper = try GitHelper(command: [Self.program(), "git-credential"] + options.settings.storeArguments())
        if write { throw helper.writtenByGit() }
        try Printing.out(helper.lines)
    }

    private func configureKubectl() throws {
        let version = apiVersion ?? Environment["API_VERSION"] ?? "v1"
        guard let version = ExecCredential.Version(rawValue: "client.authentication.k8s.io/\(version)") else {
            throw ValidationError("--api-version must be v1 or v1beta1, not '\(version)'.")
        }
        let name = user ?? Environment["USER"] ?? "mintmark"
        if name.isEmpty { throw ValidationError("--user is empty. Use a name, such as mintmark.") }
        // Reports invalid settings now instead of when kubectl runs the command.
        _ = try options.settings.configuration()
        let user = KubeconfigUser(
            name: name, version: version, command: try Self.program(),
            arguments: try ["kube-credential"] + options.settings.storeArguments())
        if write { throw user.writtenByKubectl() }
        try Printing.out(user.lines)
    }

    /// Returns the path of this program.
    static func program() throws -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        guard count > 0 else { throw ValidationError("The path of this program cannot be determined: /proc is missing.") }
        return String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A kubeconfig user whose credential comes from a command.
struct KubeconfigUser {
    let name: String
    let version: ExecCredential.Version
    let command: String
    let arguments: [String]

    /// The lines of the kubeconfig. JSON strings and arrays are valid YAML.
    var lines: String {
        """
        users:
        - name: \(JSONValue.string(name).text)
          user:
            exec:
              apiVersion: \(version.rawValue)
              command: \(JSONValue.string(command).text)
              args: \(JSONValue.array(arguments.map { .string($0) }).text)
              interactiveMode: Never
        """
    }

    /// Replaces this process with kubectl, which adds or changes the user.
    ///
    /// - Returns: The reason kubectl could not be started.
    func writtenByKubectl() -> ValidationError {
        var words = ["kubectl", "config", "set-credentials", name, "--exec-command=\(command)", "--exec-api-version=\(version.rawValue)"]
        words += arguments.map { "--exec-arg=\($0)" }
        // Every kubectl that supports v1 has this option; v1 requires the setting.
        if version == .v1 { words.append("--exec-interactive-mode=Never") }
        let given = words.map { strdup($0) } + [nil]
        execvp("kubectl", given)
        return ValidationError("kubectl cannot be started (\(String(cString: strerror(errno)))). Without --write, the lines are printed.")
    }
}

extension StoreSettings {
    /// Returns the options that select the store, from the command line or the environment. Paths are absolute, so that the options are
    /// valid in every directory.
    ///
    /// - Throws: `ValidationError`.
    func storeArguments() throws -> [String] {
        let store = store ?? (app == nil ? Environment["STORE"] : nil)
        if store == ":memory:" { throw ValidationError("A store in memory ends with its process. Use a file or an app.") }
        let isFile = store.map { !$0.includes("://") } ?? false
        let named: [(String, String?)] = [
            ("--app", store == nil ? app ?? Environment["APP"] : nil), ("--store", try isFile ? store.map(Self.absolute) : store),
            ("--issuer", issuer ?? Environment["ISSUER"]), ("--region", region ?? Environment["REGION"]),
            ("--account", account ?? Environment["ACCOUNT"]),
            ("--master-key-file", try (masterKeyFile ?? Environment["MASTER_KEY_FILE"]).map(Self.absolute)),
            ("--ca-file", try (caFile ?? Environment["CA_FILE"]).map(Self.absolute)), ("--proxy", proxy ?? Environment["PROXY"]),
        ]
        let isTesting = try Environment.flag("TESTING", or: testing)
        return named.flatMap { name, value in value.map { [name, $0] } ?? [] } + (isTesting ? ["--testing"] : [])
    }

    static func absolute(_ path: String) throws -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else {
            throw ValidationError("The working directory no longer exists. Use the absolute path of the store.")
        }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }
}
