import Federation
import Loopback
import Platform
import ServiceContext

/// The page that the user sees after returning from the provider. It loads no external resources and supports light and dark color schemes.
struct CallbackPage: Sendable {
    let status: Int
    let title: String
    let text: String
    /// The provider's own description of the error.
    var quotation: (speaker: String, words: String)?
    /// The next step for the user, if it is not to close the window.
    var hint = "You can close this window."

    static let done = CallbackPage(
        status: 200, title: "Return to the app", text: "The app has received your provider’s response and continues.")

    /// - Parameters:
    ///   - provider: The display name of the provider.
    ///   - error: The error code of RFC 6749 §4.1.2.1 or OpenID Connect Core §3.1.2.6.
    ///   - description: The provider's description of the error.
    static func refused(by provider: String, _ error: String, _ description: String?) -> CallbackPage {
        let text =
            switch error {
            case "access_denied": "\(provider) did not sign you in: you canceled, or you are not allowed to sign in."
            case "temporarily_unavailable", "server_error": "\(provider) is temporarily unavailable. Try again later."
            default: "\(provider) did not sign you in (\(ProviderErrorText.of(error)))."
            }
        return CallbackPage(
            status: 200, title: "You are not signed in", text: text,
            quotation: description.flatMap { $0.isEmpty ? nil : (provider, ProviderErrorText.of($0)) },
            hint: "You can close this window and try again in the app.")
    }

    static let stranger = CallbackPage(
        status: 400, title: "Unexpected request", text: "The app is not waiting for this page.",
        hint: "Nothing has changed. Start again in the app.")

    static let tooLate = CallbackPage(
        status: 410, title: "This took too long", text: "The app no longer waits for this sign-in. Nothing has changed.",
        hint: "You can close this window and start again in the app.")

    static let notYet = CallbackPage(
        status: 503, title: "Please try again", text: "Your sign-in could not be saved.", hint: "Reload this page.")

    var response: LoopbackResponse {
        let said = quotation.map { "<blockquote>\(Markup.escaped($0.speaker)): “\(Markup.escaped($0.words))”</blockquote>\n" } ?? ""
        return HTMLPage(
            status: status, title: title, sign: title == Self.done.title ? .fine : .warning,
            content: "<p>\(Markup.escaped(text))</p>\n\(said)<p>\(Markup.escaped(hint))</p>"
        ).response
    }
}
