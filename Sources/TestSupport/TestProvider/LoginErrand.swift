import Accounts

/// Why somebody signs in at the provider for tests.
enum LoginErrand: Sendable {
    /// A client has sent their browser, and may have hinted at whom it means.
    case client(AuthorizeRequest, ExpectedPerson?)
    /// They have typed the code of a device.
    case device(userCode: String, clientId: String)

    var clientId: String {
        switch self {
        case .client(let asked, _): asked.clientId
        case .device(_, let clientId): clientId
        }
    }

    /// What stands behind the question mark in the address of the login page: the errand, from which it is read again.
    var query: String {
        switch self {
        case .client(let asked, _): asked.parameters.text
        case .device(let userCode, _): Form.encode([("user_code", userCode)])
        }
    }

    /// Whom they are expected to be.
    var loginHint: String {
        switch self {
        case .client(let asked, let expected): asked.parameters["login_hint"] ?? expected?.username ?? ""
        case .device: ""
        }
    }

    /// The only one whom the errand is good for, nil for anybody.
    var expected: ExpectedPerson? {
        switch self {
        case .client(_, let expected): expected
        case .device: nil
        }
    }
}
