import Accounts
import Arguments
import Glibc
import JSON
import Platform

/// `mintmark git-credential`
struct GitCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git-credential", abstract: "Return the signed-in user's access token of GitHub to git.",
        discussion: """
            git runs this command as a credential helper, with the operation as the last argument. For https://github.com, get returns \
            the access token that the user's sign-in or link with GitHub has stored, and refreshes it before it expires \
            (account.providerToken). For any other host, and for the operations store and erase, the command prints nothing, so that \
            git asks its next helper.

              mintmark login --provider github.com
              mintmark configure git --write
              git push

            The token permits what the scopes of the identity provider permit, such as repo. Exit status 3: no user is signed in.
            """)

    @Argument(help: "The operation of git: get, store or erase.", completion: .list(["get", "store", "erase"]))
    var operation: String

    @OptionGroup(title: "Store") var options: StoreOptions

    func run() throws {
        // git adds operations over time, and ignores the output of those that a helper does not know.
        guard operation == "get" else { return }
        guard let input = InputFile.readAll(0), let asked = GitCredentialRequest(input) else {
            throw ToolFailure(64, "invalidUsage", "Standard input is not a credential request of git.").printed()
        }
        guard asked.isForGitHub else { return }
        let text = try ToolFailure.reporting {
            let source = TokenSource.session(tenant: nil)
            let store = try ToolStore(options.settings, for: source)
            defer { store.close() }
            let token = try source.token(store)
            try requireGitHub(of: token, store)
            let answer = try store.call(
                "account.providerToken",
                ["idToken": .string(token.text), "providerId": .string(KnownProvider.github.rawValue)])
            return try asked.answer(token: answer["accessToken"]?.string ?? "", expiresAt: answer["expiresAt"]?.int)
        }
        try Printing.out(text)
    }

    /// Checks that the tokens of the provider are those of github.com: with an `endpoint`, they can be of another server.
    ///
    /// - Throws: `ToolFailure`.
    private func requireGitHub(of token: SourceToken, _ store: ToolStore) throws {
        let tenant = store.realm.owner(ofIssuer: token.issuer)?.tenantId ?? TenantRecord.defaultId
        let idp = try store.call("idp.get", ["tenantId": .string(tenant), "providerId": .string(KnownProvider.github.rawValue)])
        guard let endpoint = idp["endpoint"]?.string, let url = try? HTTPURL(endpoint), !url.isLoopback,
            !["github.com", "api.github.com"].contains(url.host.lowercased())
        else { return }
        throw ToolFailure(
            1, "providerTokenRefused",
            "The identity provider github.com of this store is at \(url.host), so its tokens are not sent to github.com.")
    }
}

/// A question of git: lines of the form `key=value` (gitcredentials, "Input/output format").
struct GitCredentialRequest: Equatable {
    /// The maximum length of a line of git.
    private static let maximumLine = 65_535

    private let attributes: [String: String]

    /// - Returns: `nil` if the bytes are not in the format of git.
    init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { return nil }
        var attributes: [String: String] = [:]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            // The input ends with an empty line.
            if line.isEmpty { break }
            guard let sign = line.firstIndex(of: "="), line.utf8.count <= Self.maximumLine else { return nil }
            attributes[String(line[..<sign])] = String(line[line.index(after: sign)...])
        }
        self.attributes = attributes
    }

    /// Whether git asks for https://github.com. No other host may get the token.
    var isForGitHub: Bool { attributes["protocol"] == "https" && attributes["host"]?.lowercased() == "github.com" }

    /// - Throws: `ToolFailure` if the token cannot be part of a line.
    func answer(token: String, expiresAt: Int64?) throws -> String {
        guard !token.isEmpty, token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw ToolFailure(1, "providerTokenRefused", "The access token of the provider has characters that git cannot send.")
        }
        // GitHub accepts any user name with an access token.
        var lines = ["username=\(attributes["username"] ?? "x-access-token")", "password=\(token)"]
        if let expiresAt { lines.append("password_expiry_utc=\(expiresAt)") }
        return lines.joined(separator: "\n")
    }
}

/// The configuration with which git runs `mintmark git-credential`.
struct GitHelper {
    private static let section = "https://github.com"
    /// The value of `credential.https://github.com.helper`. git runs it in a shell.
    private let value: String

    /// - Throws: `ValidationError` for an argument that the file of git cannot hold.
    init(command: [String]) throws {
        if let word = command.first(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }) {
            throw ValidationError("The argument '\(ToolFailure.line(word))' contains a line break, which the file of git cannot hold.")
        }
        value = "!" + command.map(AWSProfile.quoted).joined(separator: " ")
    }

    /// The lines of the configuration file of git. The first helper, which is empty, removes those that were configured before.
    var lines: String {
        let quoted = value.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
            .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
        return "[credential \"\(Self.section)\"]\n\thelper =\n\thelper = \"\(quoted)\""
    }

    /// Replaces this process with git, which sets the helper in the configuration of the user.
    ///
    /// - Returns: The reason git could not be started.
    func writtenByGit() -> ValidationError {
        let key = "credential.\(Self.section).helper"
        // Two values: the first one, which is empty, and this helper.
        let script = "git config --global --replace-all \"$1\" '' && git config --global --add \"$1\" \"$2\""
        let words = ["/bin/sh", "-c", script, "sh", key, value]
        let given = words.map { strdup($0) } + [nil]
        execv("/bin/sh", given)
        return ValidationError("git cannot be started (\(String(cString: strerror(errno)))). Without --write, the lines are printed.")
    }
}
