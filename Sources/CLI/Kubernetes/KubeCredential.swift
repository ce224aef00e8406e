import Accounts
import Arguments
import Contract
import Glibc
import JSON
import Mintmark
import Platform

/// `mintmark kube-credential`
struct KubeCredential: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kube-credential", abstract: "Return the ID token of the signed-in user to kubectl.",
        discussion: """
            kubectl and other programs that use client-go run this command when they require a credential, with the API version in \
            KUBERNETES_EXEC_INFO, and again when the token has expired or was rejected. `mintmark configure kubectl` configures it. \
            Sign in with `mintmark login` first. Exit status 3: no user is signed in.
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        let version = try ExecCredential.Version.asked()
        let token = try TokenCommand.tokens(of: options.settings, goodFor: 300).idToken
        try Printing.out(ExecCredential(version: version, token: token).text)
    }
}

/// The output of an exec plugin for client-go (`client.authentication.k8s.io`).
struct ExecCredential {
    /// The versions of the API. The output must have the requested version.
    enum Version: String, CaseIterable {
        case v1 = "client.authentication.k8s.io/v1"
        case v1beta1 = "client.authentication.k8s.io/v1beta1"

        /// Returns the version in KUBERNETES_EXEC_INFO, or the latest if the variable is unset because a user runs the command directly.
        ///
        /// - Throws: `ValidationError`.
        static func asked() throws -> Version {
            guard let text = Environment.plain("KUBERNETES_EXEC_INFO") else { return .v1 }
            let info = (try? JSONValue(parsing: text)) ?? .null
            guard info["kind"]?.string == "ExecCredential", let named = info["apiVersion"]?.string else {
                throw ValidationError("KUBERNETES_EXEC_INFO contains no ExecCredential. kubectl sets this variable.")
            }
            guard let version = Version(rawValue: named) else {
                let known = allCases.map(\.rawValue).joined(separator: " or ")
                throw ValidationError("kubectl requests \(named). Set apiVersion to \(known) in the kubeconfig entry of this command.")
            }
            return version
        }
    }

    let version: Version
    /// A JSON Web Token.
    let token: String

    var text: String {
        var status: JSONObject = ["token": .string(token)]
        status["expirationTimestamp"] = expiry.map { .string($0) }
        let credential: JSONObject = ["apiVersion": .string(version.rawValue), "kind": "ExecCredential", "status": .object(status)]
        return JSONValue.object(credential).text
    }

    /// The time at which the token expires (RFC 3339); client-go caches it until then.
    private var expiry: String? {
        let parts = token.split(separator: ".")
        guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])),
            var seconds = (try? JSONValue(parsing: bytes))?["exp"]?.int.flatMap({ time_t(exactly: $0) })
        else { return nil }
        var day = tm()
        gmtime_r(&seconds, &day)
        func padded(_ number: Int32, _ digits: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        let date = [padded(day.tm_year + 1900, 4), padded(day.tm_mon + 1), padded(day.tm_mday)].joined(separator: "-")
        return "\(date)T\([day.tm_hour, day.tm_min, day.tm_sec].map { padded($0) }.joined(separator: ":"))Z"
    }
}
