import Arguments
import JSON

/// `mintmark aws-credentials`
struct AWSCredentialsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aws-credentials", abstract: "Print temporary credentials for the credential_process of AWS SDKs.",
        discussion: """
            AWS SDKs and the AWS CLI run this command for a profile that `mintmark configure aws` has added. The token comes from the
            session of `mintmark login`, a file, a command or the store; the store exchanges it, or with --endpoint AWS STS. The
            credentials are stored encrypted in the store, and are printed again until 5 minutes before they expire. Several processes
            that run the command at the same time share one exchange.

              mintmark configure aws --profile deploy --role deploy --write
              aws --profile deploy sts get-caller-identity

            Exit status 1: the exchange was refused. 2: the store cannot be used. 3: no user is signed in; run `mintmark login`.
            """)

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        let request = try credentials.request()
        let text = try ToolFailure.reporting {
            let store = try ToolStore(options.settings, for: request.source)
            defer { store.close() }
            return Self.text(of: try CredentialCache(store, request).credentials())
        }
        try Printing.out(text)
    }

    /// The output of a credential process, version 1.
    static func text(of credentials: AWSCredentials) -> String {
        var object: JSONObject = [
            "Version": 1, "AccessKeyId": .string(credentials.accessKeyId), "SecretAccessKey": .string(credentials.secretAccessKey),
            "SessionToken": .string(credentials.sessionToken), "Expiration": .string(credentials.expiration),
        ]
        object["AccountId"] = credentials.accountId.map { .string($0) }
        return JSONValue.object(object).text
    }
}
