import Loopback
import Platform

/// What a person sees when they come back from their provider: a page that needs nothing from elsewhere, light or dark as they like it.
struct CallbackPage: Sendable {
    let status: Int
    let title: String
    let text: String
    /// What their provider says, in its own words.
    var quotation: (speaker: String, words: String)?
    /// What they can do, where that is something else than closing the window.
    var hint = "You can close this window."

    static let done = CallbackPage(
        status: 200, title: "You are back", text: "Your provider’s answer has reached the app, which goes on with it.")

    /// - Parameters:
    ///   - provider: as people know it.
    ///   - error: as RFC 6749 4.1.2.1 and OpenID Connect Core 3.1.2.6 name it.
    ///   - description: what the provider says of it.
    static func refused(by provider: String, _ error: String, _ description: String?) -> CallbackPage {
        let text =
            switch error {
            case "access_denied": "\(provider) did not let you in: you said no there, or may not sign in."
            case "temporarily_unavailable", "server_error": "\(provider) can let nobody in just now. Begin again in a while."
            default: "\(provider) did not let you in (\(Words.of(error)))."
            }
        return CallbackPage(
            status: 200, title: "You are not signed in", text: text,
            quotation: description.flatMap { $0.isEmpty ? nil : (provider, Words.of($0)) },
            hint: "You can close this window and try again in the app.")
    }

    static let stranger = CallbackPage(
        status: 400, title: "Nobody asked for this page", text: "It was opened with something that the app does not wait for.",
        hint: "Nothing has happened. Begin again in the app.")

    static let tooLate = CallbackPage(
        status: 410, title: "This took too long", text: "The app no longer waits for this sign-in, and nothing has happened.",
        hint: "You can close this window and begin again in the app.")

    static let notYet = CallbackPage(
        status: 503, title: "Not yet", text: "Your sign-in could not be noted just now.", hint: "Reload this page.")

    var response: LoopbackResponse {
        LoopbackResponse(
            status: status,
            headers: [
                ("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store"), ("referrer-policy", "no-referrer"),
                ("x-content-type-options", "nosniff"),
                (
                    "content-security-policy",
                    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                ),
            ], body: Array(html.utf8))
    }

    private var html: String {
        let isFine = title == Self.done.title
        let sign = isFine ? "M7 12.5l3.5 3.5L17 9" : "M12 6.5v7M12 16.8v.2"
        let said = quotation.map { "<blockquote>\(Markup.escaped($0.speaker)) says: “\(Markup.escaped($0.words))”</blockquote>\n" } ?? ""
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <link rel="icon" href="data:,">
            <title>\(Markup.escaped(title))</title>
            <style>
            :root { --page: #f5f5f2; --card: #fff; --ink: #1d1d1b; --soft: #5c5c57; --line: #deded8; --mark: \(isFine ? "#1a7f5a" : "#b4451f"); }
            @media (prefers-color-scheme: dark) {
              :root { --page: #161716; --card: #212322; --ink: #f0f0ec; --soft: #b0b1aa; --line: #393b39; --mark: \(isFine ? "#4cc491" : "#f08a5d"); }
            }
            * { box-sizing: border-box; }
            body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 1.25rem; background: var(--page);
              color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
            main { width: 100%; max-width: 27rem; padding: 2rem; background: var(--card); border: 1px solid var(--line);
              border-radius: .6rem; overflow-wrap: anywhere; }
            svg { display: block; width: 2.5rem; height: 2.5rem; margin-bottom: 1rem; fill: none; stroke: var(--mark); stroke-width: 1.6;
              stroke-linecap: round; stroke-linejoin: round; }
            h1 { margin: 0 0 .6rem; font-size: 1.35rem; line-height: 1.25; text-wrap: balance; }
            p, blockquote { margin: 0; text-wrap: pretty; }
            blockquote { margin-top: 1rem; padding-left: .9rem; border-left: 3px solid var(--line); color: var(--soft); }
            p + p, blockquote + p { margin-top: 1rem; color: var(--soft); }
            </style>
            </head>
            <body>
            <main>
            <svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10.5"/><path d="\(sign)"/></svg>
            <h1>\(Markup.escaped(title))</h1>
            <p>\(Markup.escaped(text))</p>
            \(said)<p>\(Markup.escaped(hint))</p>
            </main>
            </body>
            </html>

            """
    }
}
