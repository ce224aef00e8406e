import Arguments
import Glibc
import JSON
import Platform

/// The enrollment of an authenticator app at a terminal.
extension SignInSteps {
    /// - Parameter proof: The ID token or the continuation token that permits the enrollment.
    /// - Returns: The response of `mfa.confirm`.
    func enrolled(_ proof: JSONObject, name: String? = nil) throws -> JSONValue {
        var params = proof
        params["kind"] = "totp"
        params["displayName"] = name.map { .string($0) }
        let step = try calls.result("mfa.enroll", .object(params))
        Self.show(secret: step["secret"]?.string ?? "", uri: step["otpauthUri"]?.string ?? "")
        return try asking("Code of your authenticator app: ") { code in
            try calls.ask("mfa.confirm", ["continuationToken": token(of: step), "code": .string(code)])
        }
    }

    /// Prints the QR code if standard output is a terminal that is wide enough, and the secret in groups of four.
    private static func show(secret: String, uri: String) {
        Printing.err("Add an account to your authenticator app: scan the code, or type the secret.")
        var size = winsize()
        let width = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
        if isatty(1) == 1, let code = QRCode(uri), width >= code.columns { try? Printing.out(code.terminalText) }
        let letters = Array(secret)
        let groups = stride(from: 0, to: letters.count, by: 4).map { String(letters[$0..<min($0 + 4, letters.count)]) }
        Printing.err("\n  \(groups.joined(separator: " "))\n")
    }
}
