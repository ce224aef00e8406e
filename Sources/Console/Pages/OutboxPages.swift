import JSON
import Loopback

extension Page {
    /// The policy of a message's HTML: inline styles only.
    private static let messagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; sandbox"

    private static let nothingKept: HTML = """
        This store keeps no messages: it sends them. A store that was created with <code>--testing</code> captures them, and the outbox \
        shows them as they look.
        """

    private var isTesting: Bool { parts.mintmark.configuration.testing }

    private func messages(after number: Int64) throws(CallError) -> [JSONValue] {
        try calls.call("test.outbox", ["after": .number(JSONNumber(number))])["messages"]?.array ?? []
    }

    /// Lists the messages, newest first.
    func outbox() throws(CallError) -> LoopbackResponse {
        guard isTesting else { return respond("Outbox", "<div class=\"empty\"><p>\(Self.nothingKept)</p></div>") }
        let start = query.given("after").flatMap { Int64($0) }
        var found = try messages(after: start ?? 0)
        // The method returns the oldest messages first, at most 100.
        while start == nil, found.count >= 100, let last = found.last?["number"]?.int {
            let more = try messages(after: last)
            if more.isEmpty { break }
            found = Array((found + more).suffix(100))
        }
        let table = Display.table(
            found.reversed(), empty: "No message was sent yet. A sign-up, a sign-in with a code or a password reset sends one.",
            [
                (
                    "Message",
                    { message in
                        let number = String(message["number"]?.int ?? 0)
                        let title = message["subject"]?.string ?? message["purpose"]?.string ?? ""
                        return "<a href=\"/outbox/\(number)\">\(title)</a><small>No. \(number)</small>"
                    }
                ),
                Display.column("To", "to"),
                ("Code", { $0["code"]?.string.map { "<code class=\"whole\">\($0)</code>" } ?? "<span class=\"soft\">–</span>" }),
                ("Kind", { "\(Display.badge($0["channel"]?.string ?? "")) \(Display.badge($0["purpose"]?.string ?? "", "info"))" }),
                Display.column("Tenant", "tenantId"), Display.column("Sent", "sentAt"),
            ])
        return respond(
            "Outbox", lead: "Messages that this testing store captured instead of sending them, newest first.",
            "<section data-live=\"\(request.place)\" data-every=\"2\">\(table)</section>")
    }

    func message(_ text: String, part: String?) throws(CallError) -> LoopbackResponse {
        guard isTesting else { return respond("Outbox", status: 404, "<div class=\"empty\"><p>\(Self.nothingKept)</p></div>") }
        guard let number = Int64(text), number > 0, let message = try messages(after: number - 1).first,
            message["number"]?.int == number, part == nil || part == "html"
        else { return notFound() }
        let html = message["html"]?.string
        if part == "html" {
            guard let html else { return notFound() }
            return Self.response(200, HTML(raw: html), policy: Self.messagePolicy)
        }
        let code: HTML = message["code"]?.string.map { "<p class=\"code\"><span>Code</span> <b>\($0)</b></p>" } ?? .none
        let frame: HTML =
            html == nil
            ? .none
            : "<section><h2>HTML</h2><iframe sandbox src=\"/outbox/\(text)/html\" title=\"The message as it looks\"></iframe></section>"
        return respond(
            message["subject"]?.string ?? "Message \(text)",
            """
            \(code)<section class="card"><h2>Header</h2>\(Display.facts(message, without: ["text", "html", "code"]))</section>\
            \(frame)<section><h2>Text</h2><pre class="mail">\(message["text"]?.string ?? "")</pre></section>\
            <p class="pager"><a class="button" href="/outbox">All messages</a></p>
            """)
    }
}
