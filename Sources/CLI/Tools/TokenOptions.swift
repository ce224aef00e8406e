import Arguments

/// The options that select the source of the token: exactly one of them, or none for the session of `mintmark login`.
struct TokenOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The tenant to which the user of the session must belong.", valueName: "tenant"))
    var tenant: String?

    @Option(
        help: ArgumentHelp("A file with the token, such as one that Kubernetes writes. It is read each time.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp("A shell command that prints the token. It runs each time a token is required.", valueName: "command"))
    var tokenCommand: String?

    @Option(help: ArgumentHelp("The identity for which the store mints the token, with the access of the developer.", valueName: "id"))
    var identity: String?

    @Option(
        help: ArgumentHelp(
            "The developer user identifier for which the store mints the token, with the access of the developer. Requires --pool.",
            valueName: "name"))
    var developerUser: String?

    @Option(help: ArgumentHelp("The pool of --developer-user, and without --role the pool that issues the credentials.", valueName: "id"))
    var pool: String?

    var poolId: String? { pool ?? Environment["POOL"] }

    /// - Throws: `ValidationError` if the options exclude each other.
    func source() throws -> TokenSource {
        let given = [
            ("--tenant", tenant), ("--token-file", tokenFile), ("--token-command", tokenCommand), ("--identity", identity),
            ("--developer-user", developerUser),
        ].filter { $0.1 != nil }
        if given.count > 1 { throw ValidationError("\(given[0].0) and \(given[1].0) exclude each other: both select the token.") }
        // The command line takes precedence over the environment.
        func value(_ option: String?, _ variable: String) -> String? { given.isEmpty ? Environment[variable] : option }
        if let path = value(tokenFile, "TOKEN_FILE") { return .file(path) }
        if let command = value(tokenCommand, "TOKEN_COMMAND") { return .command(command) }
        if let id = value(identity, "IDENTITY") { return .identity(id) }
        if let name = value(developerUser, "DEVELOPER_USER") {
            guard let poolId else {
                throw ValidationError("--developer-user requires --pool, the pool whose developer provider names the user.")
            }
            return .developerUser(name, pool: poolId)
        }
        return .session(tenant: value(tenant, "TENANT"))
    }

    /// The options as arguments of another call of this program. Paths are absolute.
    func arguments() throws -> [String] {
        let named: [(String, String?)] =
            switch try source() {
            case .session(let tenant): [("--tenant", tenant)]
            case .file(let path): [("--token-file", try StoreSettings.absolute(path))]
            case .command(let command): [("--token-command", command)]
            case .identity(let id): [("--identity", id)]
            case .developerUser(let name, _): [("--developer-user", name)]
            }
        return (named + [("--pool", poolId)]).flatMap { name, value in value.map { [name, $0] } ?? [] }
    }
}
