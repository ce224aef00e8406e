import Accounts
import Contract
import Platform

/// The client credentials of a request to a token endpoint or an authorization challenge endpoint (RFC 6749 §2.3.1).
struct ClientCredentials {
    /// The client ID, from the header or the form.
    let clientId: String?
    let secret: String?

    /// - Throws: `EntraError` if the credentials are malformed or occur twice.
    init(_ request: WireRequest, _ form: EntraForm) throws {
        let (id, secret) = (form["client_id"], form["client_secret"])
        guard let header = request.header("authorization"), header.lowercased().hasPrefix("basic ") else {
            (clientId, self.secret) = (id, secret)
            return
        }
        guard let bytes = Base64.decode(String(header.dropFirst("basic ".count))), let text = String(validating: bytes, as: UTF8.self),
            let colon = text.firstIndex(of: ":"), let name = Self.decoded(text[..<colon]),
            let shown = Self.decoded(text[text.index(after: colon)...])
        else {
            throw EntraError(
                "invalid_client", 7_000_215,
                "The Authorization header is not valid: it must contain the form-encoded client ID and secret, separated by a colon, in base64."
            )
        }
        if secret != nil { throw EntraError("invalid_request", 90100, "Send the client secret once: in the header or in the form.") }
        if let id, id != name { throw EntraError("invalid_request", 90100, "client_id differs from the one in the Authorization header.") }
        (clientId, self.secret) = (name, shown)
    }

    private static func decoded(_ text: Substring) -> String? {
        let form = WireRequest(
            method: "POST", url: "/", headers: [("content-type", "application/x-www-form-urlencoded")], body: "x=\(text)")
        return form.parameters.count == 1 ? form.parameters.first?.value : nil
    }

    /// Returns the client ID of the application that the secret authenticates, or `nil` if the request contains no secret.
    ///
    /// - Throws: `ClientUnknown`, `ClientSecretInvalid`.
    func authenticated(of tenant: TenantRecord, _ context: AccountsContext) throws -> String? {
        guard let clientId, let secret else { return nil }
        return try ApplicationAuthentication(context).application(clientId, secret: secret, of: tenant).clientId
    }
}
