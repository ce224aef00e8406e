import Crypto
import JSON
import Loopback
import Mintmark
import Platform
import Synchronization

/// Decides about requests and finds their pages.
final class Router: Sendable {
    static let mostBody = 1 << 20
    static let mostHead = 16 * 1024

    let parts: ConsoleParts
    let access = Access()
    let home: HomeFacts
    private let portNumber = Atomic<UInt16>(0)
    private let isEnding = Atomic(false)

    init(_ mintmark: Mintmark, _ settings: ConsoleSettings) {
        parts = ConsoleParts(mintmark, settings)
        home = HomeFacts(parts.calls, warnings: settings.warnings)
    }

    var port: UInt16 { portNumber.load(ordering: .relaxed) }
    var isOver: Bool { isEnding.load(ordering: .relaxed) }
    /// Cookies do not belong to a port, so the port is part of the name.
    private var cookieName: String { "mintmark_console_\(port)" }

    func listen(on port: UInt16) { portNumber.store(port, ordering: .relaxed) }

    func end() {
        isEnding.store(true, ordering: .relaxed)
        parts.log.wake()
    }

    // MARK: Before the body is read

    func gate(_ head: LoopbackRequest, _ bodyBytes: Int?) -> LoopbackAdmission {
        guard Access.isOwnHost(head.header("host"), port: port) else {
            note("the console rejected a request for another host", head)
            return .rejected(
                Page.bare(status: 421, "Wrong address", "Open the console at http://127.0.0.1:\(port)/, as it was printed at its start."))
        }
        let headBytes = head.headers.reduce(head.target.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard headBytes <= Self.mostHead else {
            return .rejected(Page.bare(status: 431, "Header too long", "The header of a request can have at most 16 KiB."))
        }
        var request = PageRequest(head, cookieName: cookieName)
        if request.path == ["console.css"] { return .buffered }
        if request.method == "GET", let token = request.query["token"] {
            if let cookie = access.exchange(token) { return .rejected(signedIn(cookie, to: request.place)) }
            // A reload of the first page after a restart of the browser.
            if access.formToken(request.cookie) != nil { return .rejected(.redirect(to: request.place)) }
        }
        guard let formToken = access.formToken(request.cookie) else {
            note("the console rejected a request without a valid token or session", head)
            return .rejected(Page.locked(isSidecar: parts.settings.isSidecar))
        }
        guard request.method == "GET" || request.method == "POST" else {
            return .rejected(Page.bare(status: 405, "Method not allowed", "The console accepts GET and POST."))
        }
        request.formToken = formToken
        if request.method == "POST" {
            guard Access.isOwnPage(head, port: port) else {
                note("the console rejected a form of another site", head)
                return .rejected(
                    Page(parts, request).forbidden("This form was sent by another website. Send it from a page of the console."))
            }
            if request.path == ["import"] { return .streamed { self.importUpload($0, request) } }
            guard (bodyBytes ?? 0) <= Self.mostBody else {
                let text = "A form can have at most 1 MiB. Use Import for files, or the command line."
                return .rejected(Page(parts, request).message(413, "Too much data", text))
            }
        }
        if request.path == ["requests", "events"] { return .streamed { self.events($0, request) } }
        return .buffered
    }

    private func note(_ message: String, _ head: LoopbackRequest) {
        parts.mintmark.logNotice(
            message,
            [
                "host": head.header("host") ?? "", "origin": head.header("origin") ?? "",
                "path": String(head.target.prefix { $0 != "?" }.prefix(200)),
            ])
    }

    private func signedIn(_ cookie: String, to place: String) -> LoopbackResponse {
        LoopbackResponse.redirect(to: place).adding([
            ("set-cookie", "\(cookieName)=\(cookie); HttpOnly; SameSite=Strict; Path=/; Max-Age=\(Access.sessionSeconds)")
        ])
    }

    // MARK: Pages

    func answer(_ raw: LoopbackRequest) -> LoopbackResponse {
        var request = PageRequest(raw, cookieName: cookieName)
        if request.path == ["console.css"] { return ConsoleFiles.response(ConsoleFiles.style, "text/css") }
        guard let formToken = access.formToken(request.cookie) else { return Page.locked(isSidecar: parts.settings.isSidecar) }
        request.formToken = formToken
        let page = Page(parts, request)
        if request.method == "POST", !constantTimeEquals(request.form["_token"] ?? "", formToken) {
            note("the console rejected a form without its token", raw)
            return page.forbidden("The form has no valid token. Reload its page and send it again.")
        }
        do { return try find(page) } catch {
            return page.failure(error)
        }
    }

    private func find(_ page: Page) throws(CallError) -> LoopbackResponse {
        let path = page.request.path
        let first = path.first ?? ""
        let second = path.count > 1 ? path[1] : nil
        guard path.count <= 2 || (first == "outbox" && path.count == 3) else { return page.notFound() }
        if page.request.method == "POST" { return try change(page, first, second) }
        switch (first, second) {
        case ("", nil): return home.page(page)
        case ("console.js", nil): return ConsoleFiles.response(ConsoleFiles.script, "text/javascript")
        case ("tenants", nil): return try page.tenants()
        case ("tenants", let id?): return try page.tenant(id)
        case ("applications", let id?): return try page.application(id)
        case ("accounts", nil): return try page.accounts()
        case ("accounts", let id?): return try page.account(id)
        case ("sessions", nil): return try page.sessions()
        case ("pools", nil): return try page.pools()
        case ("pools", let id?): return try page.pool(id)
        case ("identities", let id?): return try page.identity(id)
        case ("roles", nil): return try page.roles()
        case ("outbox", nil): return try page.outbox()
        case ("outbox", let number?): return try page.message(number, part: path.count == 3 ? path[2] : nil)
        case ("requests", nil): return page.requests()
        case ("requests", let number?): return page.request(number)
        case ("metrics", nil): return page.metrics()
        case ("keys", nil): return try page.keys()
        case ("audit", nil): return try page.audit()
        case ("import", nil): return page.importForm()
        case ("import", let number?): return page.importJob(number)
        case ("methods", nil): return page.methods()
        case ("methods", let name?): return page.method(name)
        default: return page.notFound()
        }
    }

    private func change(_ page: Page, _ first: String, _ second: String?) throws(CallError) -> LoopbackResponse {
        switch (first, second) {
        case ("accounts", let id?): return try page.endSession(ofAccount: id)
        case ("roles", nil): return try page.roles(testing: page.request.form)
        case ("keys", nil): return try page.rotate()
        case ("audit", nil): return try page.audit(verified: parts.calls.call("audit.verify"))
        case ("methods", let name?): return page.callMethod(name)
        default: return page.notFound()
        }
    }
}
