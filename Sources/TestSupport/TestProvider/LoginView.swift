import Contract

/// What the login page asks for.
enum LoginView: Sendable {
    /// The address, with the password where the issuer wants one.
    case address(String)
    /// The password of an account that had not been given one at first.
    case password(String, String)
    /// The code that was mailed.
    case code(String, String, sentTo: String)
    /// Which second factor.
    case factors(String, String, [FactorHint])
    /// The code of a second factor; `sentTo` is nil for an app's.
    case factorCode(String, String, factor: String, sentTo: String?)

    /// The view whose form was sent.
    init(_ form: ProviderParameters) {
        let (email, token) = (form["email"] ?? "", form["continuation"] ?? "")
        switch form["step"] {
        case "password": self = .password(email, token)
        case "code": self = .code(email, token, sentTo: form["sentTo"] ?? "")
        case "factors": self = .factors(email, token, [])
        case "factorCode": self = .factorCode(email, token, factor: form["factor"] ?? "", sentTo: form["sentTo"])
        default: self = .address(email)
        }
    }

    /// What its form carries along.
    var hidden: [(String, String)] {
        switch self {
        case .address: [("step", "address")]
        case .password(let email, let token): [("step", "password"), ("email", email), ("continuation", token)]
        case .code(let email, let token, let sentTo):
            [("step", "code"), ("email", email), ("continuation", token), ("sentTo", sentTo)]
        case .factors(let email, let token, _): [("step", "factors"), ("email", email), ("continuation", token)]
        case .factorCode(let email, let token, let factor, let sentTo):
            [("step", "factorCode"), ("email", email), ("continuation", token), ("factor", factor)]
                + (sentTo.map { [("sentTo", $0)] } ?? [])
        }
    }
}
