import Arguments
import JSON
import Platform

/// A credential file of Google's libraries (`external_account`) whose tokens come from a command.
struct GCPCredentialFile {
    let text: String

    /// - Throws: `ValidationError` for an argument with a space: the libraries split the command at spaces, without quotes.
    init(audience: String, command: [String], serviceAccount: String?) throws {
        if let word = command.first(where: { $0.isEmpty || $0.utf8.contains { $0 <= 0x20 || $0 == 0x7F } }) {
            throw ValidationError(
                "The argument '\(ToolFailure.line(word))' contains a space, and Google's libraries accept no quotes in the command. "
                    + "Use a path or a script whose name has no space.")
        }
        var file: JSONObject = [
            "type": "external_account", "audience": .string(audience),
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token", "token_url": "https://sts.googleapis.com/v1/token",
        ]
        if let serviceAccount {
            guard serviceAccount.utf8.contains(0x40) else {
                throw ValidationError("--service-account must be the email address of a service account, not '\(serviceAccount)'.")
            }
            file["service_account_impersonation_url"] = .string(
                "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/\(PercentEncoding.encode(serviceAccount))"
                    + ":generateAccessToken")
        }
        file["credential_source"] = ["executable": ["command": .string(command.joined(separator: " ")), "timeout_millis": 30_000]]
        text = Printing.pretty(.object(file))
    }
}
