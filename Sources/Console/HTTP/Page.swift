import JSON
import Loopback
import Platform

/// Writes the page of one request in the layout of the console.
struct Page {
    let parts: ConsoleParts
    let request: PageRequest

    init(_ parts: ConsoleParts, _ request: PageRequest) {
        self.parts = parts
        self.request = request
    }

    var calls: Calls { parts.calls }
    var writes: Bool { parts.settings.allowsWrites }
    var query: Fields { request.query }

    private static let places: [(group: String, entries: [(path: String, title: String)])] = [
        ("", [("", "Overview")]),
        ("Users", [("tenants", "Tenants"), ("accounts", "Accounts"), ("sessions", "Sessions"), ("import", "Import")]),
        ("Pools", [("pools", "Identity pools"), ("roles", "Roles")]),
        ("Activity", [("requests", "Requests"), ("metrics", "Metrics"), ("outbox", "Outbox"), ("audit", "Audit log")]),
        ("Service", [("keys", "Signing keys"), ("methods", "Methods")]),
    ]

    /// Returns a page.
    ///
    /// - Parameter lead: A sentence below the heading.
    func respond(_ title: String, status: Int = 200, lead: HTML = .none, heading: HTML? = nil, _ content: HTML) -> LoopbackResponse {
        let store = "\(parts.mintmark.configuration.store)"
        let shortStore = store.split(separator: "/").last.map(String.init) ?? store
        let current = ["identities": "pools", "applications": "tenants"][request.path.first ?? ""] ?? request.path.first ?? ""
        let groups = Self.places.map { group, entries -> HTML in
            let links = entries.map { path, name -> HTML in
                let mark: HTML = path == current && status != 404 ? " aria-current=\"page\"" : ""
                return "<a href=\"/\(path)\"\(mark)>\(name)</a>"
            }.joined()
            return group.isEmpty ? links : "<h2>\(group)</h2>\(links)"
        }.joined()
        let testing: HTML =
            parts.mintmark.configuration.testing ? "<span class=\"badge info\" title=\"A testing store\">testing</span>" : .none
        let mode: HTML = writes ? "<span class=\"badge warn\">can write</span>" : "<span class=\"badge\">read-only</span>"
        return Self.response(
            status,
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">\
            <title>\(title) · \(shortStore) · Mintmark</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/console.css">\
            <script src="/console.js" defer></script></head><body>\
            <a class="skip" href="#main">Skip to the content</a>\
            <header class="top"><a class="brand" href="/">Mintmark</a>\
            <span class="store" title="\(store)">\(shortStore)</span>\(testing)\(mode)</header>\
            <div class="frame"><nav aria-label="Sections">\(groups)</nav>\
            <main id="main" tabindex="-1"><h1>\(heading ?? HTML(title))</h1>\(lead.text.isEmpty ? .none : "<p class=\"lead\">\(lead)</p>")\
            \(content)</main></div></body></html>

            """)
    }

    static func response(_ status: Int, _ html: HTML, policy: String = ResponseHeaders.pagePolicy) -> LoopbackResponse {
        LoopbackResponse(
            status: status, headers: [("content-type", "text/html; charset=utf-8")] + ResponseHeaders.of(policy),
            body: Array(html.text.utf8))
    }

    /// Returns a page that shows nothing of the store.
    static func bare(status: Int, _ title: String, _ text: HTML) -> LoopbackResponse {
        response(
            status,
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">\
            <title>\(title) · Mintmark</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/console.css"></head>\
            <body class="bare"><main id="main"><p class="brand">Mintmark</p><h1>\(title)</h1><p>\(text)</p></main></body></html>

            """)
    }

    /// Returns the page for a browser without a session.
    static func locked(isSidecar: Bool) -> LoopbackResponse {
        let how: HTML =
            isSidecar
            ? "Send the signal SIGUSR1 to the process, as in <code>kill -USR1 PID</code>. It prints a new URL on standard error."
            : "Press Enter in the terminal in which the console runs, or send it the signal SIGUSR1. It prints a new URL."
        return bare(
            status: 403, "This page is locked",
            "The console needs a URL with a token that was not used yet. A token works once, within 10 minutes. \(how)")
    }

    func message(_ status: Int, _ title: String, _ text: String) -> LoopbackResponse {
        respond(title, status: status, "<p>\(text)</p><p><a href=\"/\">Back to the overview</a></p>")
    }

    func forbidden(_ text: String) -> LoopbackResponse { message(403, "Not allowed", text) }

    func notFound() -> LoopbackResponse {
        message(404, "Not found", "The console has no page \(PageRequest.url(request.path)), or the object does not exist.")
    }

    /// Returns the page of a call that failed.
    func failure(_ error: CallError) -> LoopbackResponse {
        let isUnknown =
            error.type.hasSuffix("NotFound") || error.type == "clientUnknown" || (error.type == "invalidParams" && request.path.count > 1)
        if error.type == "accountMerged", let target = error.data["mergedInto"]?.string ?? error.data["accountId"]?.string {
            let link: HTML = "<a href=\"\(PageRequest.url(["accounts", target]))\">\(target)</a>"
            return respond("Merged account", status: 404, "<p>\(error.message)</p><p>\(link)</p>")
        }
        let status = isUnknown ? 404 : error.type == "invalidCursor" || error.type == "invalidParams" ? 400 : 500
        return respond(
            isUnknown ? "Not found" : "The call failed", status: status,
            "<p>\(error.message)</p><p><code>\(error.type)</code></p><p><a href=\"/\">Back to the overview</a></p>")
    }

    // MARK: Parts of pages

    /// Returns a form that changes something. Its button is disabled in a read-only console.
    ///
    /// - Parameter needsWrite: Whether the form calls a method that writes.
    func form(_ action: String, needsWrite: Bool = true, button: String, style: String = "", _ fields: HTML) -> HTML {
        let isOff = needsWrite && !writes
        let off: HTML = isOff ? " disabled title=\"The console is read-only. Start it with --write.\"" : ""
        return """
            <form method="post" action="\(action)" class="\(style)"><input type="hidden" name="_token" value="\(request.formToken)">\
            \(fields)<button type="submit"\(off)>\(button)</button></form>
            """
    }

    /// The response to a form that writes, if the console is read-only.
    func refusalToWrite(_ method: String) -> LoopbackResponse? {
        guard !writes else { return nil }
        return forbidden("\(method) writes to the store, and this console is read-only. Start it with --write.")
    }

    /// Returns the links below a list.
    func pager(_ result: JSONValue, _ more: [(name: String, value: String)] = []) -> HTML {
        let next = result["nextCursor"]?.string
        guard next != nil || query["cursor"] != nil else { return .none }
        let first: HTML =
            query["cursor"] == nil ? .none : "<a class=\"button\" href=\"\(PageRequest.url(request.path, more))\">First page</a>"
        let link: HTML =
            next.map { "<a class=\"button\" rel=\"next\" href=\"\(PageRequest.url(request.path, more + [("cursor", $0)]))\">Next page</a>" }
            ?? "<span class=\"soft\">End of the list</span>"
        return "<p class=\"pager\">\(first)\(link)</p>"
    }

    /// The parameters of a list method for this page.
    func page(_ params: JSONObject = [:]) -> JSONObject {
        var params = params
        if let cursor = query.given("cursor") { params["cursor"] = .string(cursor) }
        return params
    }
}

/// The files of the pages.
extension ConsoleFiles {
    static let style = CompressedText.bytes(compressedStyle)
    static let script = CompressedText.bytes(compressedScript)

    static func response(_ body: [UInt8], _ type: String) -> LoopbackResponse {
        LoopbackResponse(
            status: 200, headers: [("content-type", type + "; charset=utf-8")] + ResponseHeaders.of(ResponseHeaders.pagePolicy), body: body)
    }
}
