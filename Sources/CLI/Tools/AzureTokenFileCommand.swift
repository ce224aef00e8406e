import Arguments
import Glibc
import JSONRPC

/// `mintmark azure-token-file`
struct AzureTokenFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "azure-token-file", abstract: "Write a token to a file for Azure's libraries, and keep it up to date.",
        discussion: """
            The file is for AZURE_FEDERATED_TOKEN_FILE of Azure's libraries, and for AWS_WEB_IDENTITY_TOKEN_FILE of AWS SDKs. Only this user
            can read it, and it is replaced in one step. With --watch, it is renewed at half of the lifetime of the token and at least
            60 seconds before the token expires, until SIGTERM. While the source of the token fails, the old file stays, and the reason
            is printed to standard error.

              mintmark azure-token-file --watch /run/user/1000/azure-token &
              AZURE_FEDERATED_TOKEN_FILE=/run/user/1000/azure-token python program.py
            """)

    @Argument(help: "The file.", completion: .file())
    var file: String

    @Flag(help: "Renew the token until SIGTERM.")
    var watch = false

    @OptionGroup(title: "Token") var source: TokenOptions

    @OptionGroup(title: "Store") var options: StoreOptions

    /// The time between two attempts while the source fails, in seconds: at first, and at most.
    private static let patience: (first: Int64, most: Int64) = (2, 60)

    func run() throws {
        let source = try source.source()
        try ToolFailure.reporting {
            let end = try EndPipe()
            // Before any other thread starts.
            if watch { Signals.take { end.end() } }
            let store = try ToolStore(options.settings, for: source)
            defer { store.close() }
            var token = try source.token(store)
            try PrivateFile(path: file).write(token.text)
            guard watch else { return }
            var (told, wait) = ("", Self.patience.first)
            var next = Self.renewal(of: token, at: store.now)
            while !end.wait(seconds: next) {
                do {
                    // A session is refreshed if its token is not valid for longer than the rest of the current one.
                    let rest = max(0, (token.expiresAt ?? 0) - store.now)
                    let fresh = try source.token(store, goodFor: min(rest + 1, 86_400))
                    if fresh.text != token.text { try PrivateFile(path: file).write(fresh.text) }
                    (token, told) = (fresh, "")
                    next = Self.renewal(of: token, at: store.now)
                    wait = Self.patience.first
                } catch {
                    let failure = ToolFailure(error)
                    if failure.message != told { Printing.err("\(Printing.errorWord) \(failure.code): \(failure.message) Trying again.") }
                    told = failure.message
                    next = wait
                    wait = min(wait * 2, Self.patience.most)
                }
            }
        }
    }

    /// The seconds until the token is renewed: half of what is left of its life, and so that 60 seconds remain. At least one.
    static func renewal(of token: SourceToken, at now: Int64) -> Int64 {
        guard let expiresAt = token.expiresAt else { return patience.most }
        let rest = expiresAt - now
        return max(1, rest > 60 ? min(rest / 2, rest - 60) : rest / 2)
    }
}
