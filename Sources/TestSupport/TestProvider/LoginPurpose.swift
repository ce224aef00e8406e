import Accounts

/// The purpose of a login at the test provider.
enum LoginPurpose: Sendable {
    /// An authorization request of a client, and the account in its `id_token_hint`.
    case client(AuthorizeRequest, LoginHint?)
    /// The device authorization whose user code was entered.
    case device(userCode: String, clientId: String)

    var clientId: String {
        switch self {
        case .client(let asked, _): asked.clientId
        case .device(_, let clientId): clientId
        }
    }

    /// The query of the login page's URL, from which the purpose is parsed again.
    var query: String {
        switch self {
        case .client(let asked, _): asked.query
        case .device(let userCode, _): Form.encode([("user_code", userCode)])
        }
    }

    /// The initial value of the email address field.
    var loginHint: String {
        switch self {
        case .client(let asked, let expected): asked.parameters["login_hint"] ?? expected?.username ?? ""
        case .device: ""
        }
    }

    /// The only account that may sign in, or `nil` for any.
    var expected: LoginHint? {
        switch self {
        case .client(_, let expected): expected
        case .device: nil
        }
    }
}
