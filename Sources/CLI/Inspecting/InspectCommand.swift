import Accounts
import Arguments
import Glibc
import JSON
import Mintmark
import ServiceContext

/// `mintmark inspect`
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what is in a token, and whether it is valid.",
        discussion: """
            Reads ID tokens, access tokens and pool tokens. Also reads continuation tokens, refresh tokens and session tokens of \
            credentials, which require their store. Reading a token does not use it. With -, the token is read from standard input, \
            which keeps it out of the process list. Exit status 1: the token is refused. Exit status 64: the text is not a token.

              mintmark token | mintmark inspect -
              mintmark inspect --offline - < token.txt
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Flag(help: "Use no store, and do not check the signature.")
    var offline = false

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The token, or - for standard input.")
    var token: String

    func run() throws {
        let text = try given()
        let isJWT = text.contains(".")
        let missing = try offline ? nil : options.settings.missingStore()
        let calls: TokenStore? = try offline || missing != nil ? nil : TokenStore(options.settings)
        defer { calls?.close() }
        var report = TokenReport()
        if isJWT {
            try report.take(jwt(text), text, calls)
        } else if let calls {
            guard try report.takeOpaque(text, calls) else {
                throw notAToken("it has no dots, as a JWT has, and the store has made no such token")
            }
        } else {
            throw notAToken("it has no dots, as a JWT has, and only a store can read other tokens")
        }
        if calls == nil { report.note = missing.map { "the store \($0) does not exist" } ?? "no store was asked" }
        try Printing.out(json ? report.json.text : report.text)
        if !report.refusals.isEmpty { throw ExitCode(1) }
    }

    private func given() throws -> String {
        guard token == "-" else { return token }
        guard let bytes = InputFile.readAll(0), bytes.count <= 1 << 20 else { throw notAToken("standard input cannot be read") }
        let text = String(decoding: bytes, as: UTF8.self)
        return String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    private func jwt(_ text: String) throws -> InspectedJWT {
        do throws(InspectedJWT.Unreadable) { return try InspectedJWT(text) } catch { throw notAToken(error.reason) }
    }

    private func notAToken(_ reason: String) -> ValidationError { ValidationError("The text is not a token: \(reason).") }
}

/// The store whose tokens are inspected.
final class TokenStore {
    let calls: Calls
    let services: Services
    let now: Int64
    private let mintmark: Mintmark

    init(_ settings: StoreSettings) throws {
        var configuration = try settings.configuration()
        (configuration.makesStores, configuration.publicCaller) = (false, false)
        mintmark = Mintmark(configuration)
        do { services = try mintmark.services() } catch {
            mintmark.close()
            throw Printing.failure(error)
        }
        calls = Calls(mintmark.responder)
        now = services.context.clock.now
    }

    func close() { mintmark.close() }
}
