import Loopback
import Platform

/// The frame of an HTML page. It loads no external resources, supports light and dark color schemes, and fits small screens.
package struct HTMLPage: Sendable {
    /// The icon above the title.
    package enum Sign: Sendable {
        case fine, warning, none
    }

    package var status = 200
    package let title: String
    package var sign = Sign.none
    /// The HTML below the title. All values in it are escaped.
    package let content: String
    /// Additional CSS rules.
    package var style = ""
    /// An optional script. The page also works without it.
    package var script: (nonce: String, text: String)?
    /// The value of the `form-action` directive, or `nil` to omit it. Browsers also apply the directive to redirects after the form post.
    package var formAction: String? = "'none'"
    /// The value of the `Referrer-Policy` header.
    package var referrerPolicy = "no-referrer"

    package init(
        status: Int = 200, title: String, sign: Sign = .none, content: String, style: String = "",
        script: (nonce: String, text: String)? = nil, formAction: String? = "'none'", referrerPolicy: String = "no-referrer"
    ) {
        self.status = status
        self.title = title
        self.sign = sign
        self.content = content
        self.style = style
        self.script = script
        self.formAction = formAction
        self.referrerPolicy = referrerPolicy
    }

    package var response: LoopbackResponse {
        var policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
        if let formAction { policy += "; form-action \(formAction)" }
        if let script { policy += "; script-src 'nonce-\(script.nonce)'" }
        return LoopbackResponse(
            status: status,
            headers: [
                ("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store"), ("referrer-policy", referrerPolicy),
                ("x-content-type-options", "nosniff"), ("content-security-policy", policy),
            ], body: Array(html.utf8))
    }

    private var html: String {
        let color = sign == .warning ? (light: "#b4451f", dark: "#f08a5d") : (light: "#1a7f5a", dark: "#4cc491")
        let drawn = script.map { "\n<script nonce=\"\($0.nonce)\">\($0.text)</script>" } ?? ""
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
            :root { --page: #f5f5f2; --card: #fff; --ink: #1d1d1b; --soft: #5c5c57; --line: #deded8; --mark: \(color.light); }
            @media (prefers-color-scheme: dark) {
              :root { --page: #161716; --card: #212322; --ink: #f0f0ec; --soft: #b0b1aa; --line: #393b39; --mark: \(color.dark); }
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
            p + p, blockquote + p { margin-top: 1rem; color: var(--soft); }\(style.isEmpty ? "" : "\n" + style)
            </style>
            </head>
            <body>
            <main>
            \(picture)<h1>\(Markup.escaped(title))</h1>
            \(content)
            </main>\(drawn)
            </body>
            </html>

            """
    }

    private var picture: String {
        let path: String
        switch sign {
        case .none: return ""
        case .fine: path = "M7 12.5l3.5 3.5L17 9"
        case .warning: path = "M12 6.5v7M12 16.8v.2"
        }
        return "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><circle cx=\"12\" cy=\"12\" r=\"10.5\"/><path d=\"\(path)\"/></svg>\n"
    }
}
