import Arguments
import Glibc
import JSON
import Mintmark

/// `mintmark whoami`
struct WhoamiCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami", abstract: "Show who is signed in.",
        discussion: """
            Prints the account of the session started by mintmark login, its sign-in methods, and when its token ends. Exit status 3: no \
            user \
            is signed in.

              mintmark whoami
              mintmark whoami --json
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let tokens = try TokenCommand.tokens(of: options.settings, goodFor: 0)
        let store = try LocalSessionStore(options.settings)
        defer { store.close() }
        let claims = (try? InspectedJWT(tokens.idToken))?.claims ?? [:]
        let graph = try store.calls.result("account.graph", ["idToken": .string(tokens.idToken)])
        let accountId = graph["nodes"]?.array?.first?["accountId"] ?? .null
        let account = try store.calls.result("account.get", ["accountId": accountId])
        let now = try store.calls.result("system.ping", [:])["now"]?.int ?? Int64(time(nil))
        let ways = (graph["nodes"]?.array ?? []).filter { $0["kind"]?.string == "provider" }
        let expiry = claims["exp"]?.int ?? 0
        if json {
            let methods = ways.map { way -> JSONValue in ["providerId": way["providerId"] ?? .null, "subject": way["subject"] ?? .null] }
            let answer: JSONValue = [
                "account": account, "signInMethods": .array(methods), "sessionId": claims["sid"] ?? .null,
                "expiresAt": .number(JSONNumber(expiry)),
            ]
            return try Printing.out(answer.text)
        }
        let name = account["username"]?.string ?? account["email"]?.string
        var lines = ["\(name.map { "\($0), " } ?? "")account \(accountId.string ?? "") in tenant \(account["tenantId"]?.string ?? "")"]
        let texts = ways.map { "\($0["providerId"]?.string ?? "") \($0["subject"]?.string ?? "")" }
        lines.append("signs in with \(texts.isEmpty ? "nothing" : texts.joined(separator: ", "))")
        lines.append("session \(claims["sid"]?.string ?? "")")
        lines.append("token ends \(MomentText.text(expiry, now: now))")
        try Printing.out(lines.joined(separator: "\n"))
    }
}
