import Contract

/// The step of the login page.
enum LoginView: Sendable {
    /// The email address, with a password field unless the issuer is passwordless.
    case address(String)
    /// The password of an account for which none was entered in the first step.
    case password(String, String)
    /// The code that was sent by email.
    case code(String, String, sentTo: String)
    /// The choice of a second factor.
    case factors(String, String, [FactorHint])
    /// The code of a second factor; `sentTo` is `nil` for a TOTP app.
    case factorCode(String, String, factor: String, sentTo: String?)

    /// The step whose form was submitted.
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

    /// The hidden fields of the form.
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
