import Contract
import Loopback
import Platform
import ServiceContext

/// The login page of the test provider. It works without scripts.
struct LoginPage: Sendable {
    private let issuer: ProviderIssuer
    private let errand: LoginPurpose
    private let view: LoginView
    private let people: [String]
    private let problem: String?

    init(_ issuer: ProviderIssuer, _ errand: LoginPurpose, _ view: LoginView, people: [String], problem: String? = nil) {
        self.issuer = issuer
        self.errand = errand
        self.view = view
        self.people = people
        self.problem = problem
    }

    var response: LoopbackResponse {
        HTMLPage(
            title: title,
            content: """
                <p>\(escaped(errand.clientId)) asks who you are. This is the issuer \(escaped(issuer.name)) of a provider for tests.</p>
                \(problem.map { "<p class=\"problem\" role=\"alert\" id=\"problem\">\(escaped($0))</p>\n" } ?? "")<form method="post" action="\(action)">
                \(view.hidden.map { "<input type=\"hidden\" name=\"\($0.0)\" value=\"\(escaped($0.1))\">" }.joined(separator: "\n"))
                \(fields)
                </form>
                \(ways)
                """,
            style: Self.style, formAction: nil, referrerPolicy: "same-origin"
        ).response
    }

    private var title: String {
        switch view {
        case .address, .password: "Sign in"
        case .code: "Enter the code from the email"
        case .factors: "Choose a second factor"
        case .factorCode: "Enter the code"
        }
    }

    /// The target of the form: the same request with its parameters.
    private var action: String { escaped("?\(errand.query)") }

    private var fields: String {
        switch view {
        case .address(let email):
            let hint = field(
                "email", "Email address", email, rest: "type=\"email\" autocomplete=\"username\" required", hasFocus: email.isEmpty)
            guard !issuer.settings.passwordless else { return hint + "\n" + button("Sign in") }
            let password = field(
                "password", "Password", "", rest: "type=\"password\" autocomplete=\"current-password\"", hasFocus: !email.isEmpty)
            return
                "\(hint)\n\(password)\n<p class=\"hint\">Leave the password empty for an account that signs in with one-time codes.</p>\n"
                + button("Sign in")
        case .password(let email, _):
            return "<p>\(escaped(email))</p>\n"
                + field("password", "Password", "", rest: "type=\"password\" autocomplete=\"current-password\" required", hasFocus: true)
                + "\n"
                + button("Sign in")
        case .code(_, _, let sentTo):
            return "<p class=\"hint\">The code was sent to \(escaped(sentTo)). test.outbox contains it.</p>\n" + code + "\n"
                + button("Sign in")
        case .factors(_, _, let hints):
            return hints.map { hint in
                "<button name=\"factor\" value=\"\(escaped(hint.factorId))\" class=\"other\">\(escaped(Self.name(of: hint)))</button>"
            }.joined(separator: "\n")
        case .factorCode(_, _, _, let sentTo):
            let hint = sentTo.map { "The code was sent to \(escaped($0)). test.outbox contains it." } ?? "Your authenticator app shows it."
            return "<p class=\"hint\">\(hint)</p>\n" + code + "\n" + button("Sign in")
        }
    }

    private var code: String {
        field("code", "Code", "", rest: "inputmode=\"numeric\" autocomplete=\"one-time-code\" required", hasFocus: true)
    }

    /// The forms for choosing a suggested user and for canceling.
    private var ways: String {
        var forms = ""
        if case .address = view, !people.isEmpty {
            let buttons = people.map { "<button name=\"email\" value=\"\(escaped($0))\" class=\"other\">\(escaped($0))</button>" }
            forms += """
                <form method="post" action="\(action)"><input type="hidden" name="step" value="address">
                <p class="hint">Or be one of these:</p>
                \(buttons.joined(separator: "\n"))
                </form>\n
                """
        }
        return forms + """
            <form method="post" action="\(action)"><input type="hidden" name="step" value="refuse">
            <button class="quiet">Cancel</button></form>
            """
    }

    private func field(_ name: String, _ label: String, _ value: String, rest: String, hasFocus: Bool) -> String {
        let flaw = problem == nil ? "" : " aria-describedby=\"problem\""
        return
            "<label for=\"\(name)\">\(label)</label>\n<input id=\"\(name)\" name=\"\(name)\" value=\"\(escaped(value))\" \(rest)\(hasFocus ? " autofocus" : "")\(flaw)>"
    }

    private func button(_ text: String) -> String { "<button>\(text)</button>" }

    private func escaped(_ text: String) -> String { Markup.escaped(text) }

    private static func name(of hint: FactorHint) -> String {
        let kind =
            switch hint.kind {
            case .totp: "Authenticator app"
            case .email: "Code by email"
            case .sms: "Code by SMS"
            case .passkey: "Passkey"
            case .recovery: "Recovery code"
            }
        return [kind, hint.displayName ?? hint.sentTo].compactMap { $0 }.joined(separator: ": ")
    }

    static let style = """
        form { margin-top: 1.25rem; display: grid; gap: .5rem; }
        label { font-weight: 600; }
        input:not([type=hidden]) { width: 100%; padding: .55rem .7rem; font: inherit; color: inherit; background: var(--page);
          border: 1px solid var(--soft); border-radius: .4rem; margin-bottom: .5rem; }
        button { padding: .6rem 1rem; font: inherit; font-weight: 600; color: var(--card); background: var(--mark); border: 1px solid var(--mark);
          border-radius: .4rem; cursor: pointer; overflow-wrap: anywhere; }
        button.other { color: var(--ink); background: none; border-color: var(--line); font-weight: 400; text-align: left; }
        button.quiet { color: var(--soft); background: none; border-color: transparent; font-weight: 400; }
        :focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
        p.hint { color: var(--soft); font-size: .95rem; }
        p.problem { margin-top: 1rem; padding: .6rem .8rem; color: var(--ink); border-left: 3px solid #d4562a; background: var(--page); }
        """

    /// Returns the page on which the user enters the user code of a device.
    static func userCode(_ typed: String, isWrong: Bool) -> LoopbackResponse {
        let problem =
            isWrong
            ? "<p class=\"problem\" role=\"alert\" id=\"problem\">No device is waiting with the code \(Markup.escaped(typed)).</p>\n"
            : ""
        return HTMLPage(
            title: "Sign in on a device",
            content: """
                <p>Type the code that your device shows.</p>
                \(problem)<form method="get">
                <label for="user_code">Code</label>
                <input id="user_code" name="user_code" autocomplete="off" autocapitalize="characters" required autofocus>
                <button>Go on</button>
                </form>
                """, style: style, formAction: "'self'"
        ).response
    }

    /// Returns a page that sends an authorization response as a form post (OAuth 2.0 Form Post Response Mode). A script submits the form;
    /// without scripts, the user presses a button.
    static func formPost(to uri: String, _ parameters: [(String, String)], nonce: String) -> LoopbackResponse {
        let inputs = parameters.map { "<input type=\"hidden\" name=\"\($0.0)\" value=\"\(Markup.escaped($0.1))\">" }
        return HTMLPage(
            title: "Back to the app",
            content: """
                <form method="post" action="\(Markup.escaped(uri))">
                \(inputs.joined(separator: "\n"))
                <button>Continue</button>
                </form>
                """,
            style: style, script: (nonce, "document.forms[0].submit()"), formAction: nil, referrerPolicy: "origin"
        ).response
    }
}
