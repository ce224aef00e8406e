import Arguments
import JSON
import Mintmark

/// `mintmark gcp-credentials`
struct GCPCredentialsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gcp-credentials", abstract: "Print an ID token for the executable-sourced credentials of Google's libraries.",
        discussion: """
            Google's libraries run this command for a credential file that `mintmark configure gcp` prints, and exchange the ID token for an
            access token of Google Cloud. They require GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1. The token comes from the session of
            `mintmark login`, a file, a command or the store.

              mintmark configure gcp --audience //iam.googleapis.com/projects/… >gcp.json
              export GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1
              GOOGLE_APPLICATION_CREDENTIALS=gcp.json python program.py

            A failure is printed to standard output, as the libraries expect it, with the exit status 1.
            """)

    @Option(help: ArgumentHelp("The only audience for which the command prints a token. (default: any)", valueName: "audience"))
    var audience: String?

    @OptionGroup(title: "Token") var source: TokenOptions

    @OptionGroup(title: "Store") var options: StoreOptions

    /// The token types that the command can answer.
    private static let types = ["urn:ietf:params:oauth:token-type:id_token", "urn:ietf:params:oauth:token-type:jwt"]

    func run() throws {
        let text: String
        do { text = try answer() } catch {
            // The libraries join both streams and show this object.
            let failure = ToolFailure(error)
            let object: JSONValue = [
                "version": 1, "success": false, "code": .string(failure.code), "message": .string(failure.message),
            ]
            try Printing.out(object.text)
            throw ExitCode(1)
        }
        try Printing.out(text)
    }

    private func answer() throws -> String {
        let source = try source.source()
        if Environment.plain("GOOGLE_EXTERNAL_ACCOUNT_REVOKE") == "1" {
            throw ToolFailure(1, "REVOKE_NOT_SUPPORTED", "The token cannot be revoked here. End the session with mintmark logout.")
        }
        let wanted = Environment.plain("GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE")
        if let audience = audience ?? Environment["AUDIENCE"], let wanted, wanted != audience {
            throw ToolFailure(1, "INVALID_AUDIENCE", "The library asks for a token for \(wanted), and this command is for \(audience).")
        }
        let type = Environment.plain("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE") ?? Self.types[0]
        guard Self.types.contains(type) else {
            throw ToolFailure(
                1, "INVALID_TOKEN_TYPE", "The token type \(type) is not supported. Set subject_token_type to \(Self.types[0]).")
        }
        let store = try ToolStore(options.settings, for: source)
        defer { store.close() }
        let token = try source.token(store)
        guard let expiresAt = token.expiresAt else { throw ToolFailure(1, "tokenMalformed", "The token has no expiry.") }
        let object: JSONValue = [
            "version": 1, "success": true, "token_type": .string(type), "id_token": .string(token.text),
            "expiration_time": .number(JSONNumber(expiresAt)),
        ]
        if let path = Environment.plain("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE") { try PrivateFile(path: path).write(object.text) }
        return object.text
    }
}
