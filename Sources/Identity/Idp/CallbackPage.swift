import Loopback
import Platform

/// What a person sees when they come back from their provider: a page that needs nothing from elsewhere, light or dark as they like it.
struct CallbackPage: Sendable, Equatable {
    let status: Int
    let title: String
    let text: String
    /// What they can do, where that is something else than closing the window.
    var hint = "You can close this window."

    static let done = CallbackPage(
        status: 200, title: "You are back", text: "What your provider said has reached the app. It goes on there.")

    static func refused(by provider: String, _ reason: String) -> CallbackPage {
        CallbackPage(
            status: 200, title: "You are not signed in", text: "\(provider) did not let you in: \(reason)",
            hint: "You can close this window and try again in the app.")
    }

    static let stranger = CallbackPage(
        status: 400, title: "This page belongs to no sign-in", text: "It was opened with something that this app did not ask for.",
        hint: "Nothing has happened. Begin again in the app.")

    var response: LoopbackResponse {
        LoopbackResponse(
            status: status,
            headers: [
                ("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store"), ("referrer-policy", "no-referrer"),
                ("x-content-type-options", "nosniff"),
                (
                    "content-security-policy",
                    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                ),
            ], body: Array(html.utf8))
    }

    private var html: String {
        let isFine = self == .done
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(Markup.escaped(title))</title>
            <style>
            :root { --page: #f5f5f2; --card: #fff; --ink: #1d1d1b; --soft: #5c5c57; --line: #deded8; --mark: \(isFine ? "#1a7f5a" : "#b4451f"); }
            @media (prefers-color-scheme: dark) {
              :root { --page: #161716; --card: #212322; --ink: #f0f0ec; --soft: #b0b1aa; --line: #393b39; --mark: \(isFine ? "#4cc491" : "#f08a5d"); }
            }
            * { box-sizing: border-box; }
            body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.25rem; background: var(--page);
              color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
            main { width: 100%; max-width: 27rem; padding: 2rem; background: var(--card); border: 1px solid var(--line);
              border-top: 4px solid var(--mark); border-radius: .6rem; overflow-wrap: anywhere; }
            h1 { margin: 0 0 .6rem; font-size: 1.35rem; line-height: 1.25; }
            p { margin: 0; }
            p + p { margin-top: 1rem; color: var(--soft); }
            </style>
            </head>
            <body>
            <main>
            <h1>\(Markup.escaped(title))</h1>
            <p>\(Markup.escaped(text))</p>
            <p>\(Markup.escaped(hint))</p>
            </main>
            </body>
            </html>

            """
    }
}
