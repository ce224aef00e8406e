import JSON
import Loopback
import Platform

/// The facts of the first page. Counting rows and checking the store can take long, so both are done on another thread.
final class HomeFacts: Sendable {
    private struct State {
        var stats: JSONValue?
        var warnings: [String]?
        var isBusy = false
        /// The number of times that the rows were counted.
        var counted = 0
    }

    private static let patienceNanoseconds: UInt64 = 50_000_000

    private let calls: Calls
    private let warnings: @Sendable () -> [String]
    private let state = ConditionLock(State())

    init(_ calls: Calls, warnings: @escaping @Sendable () -> [String]) {
        self.calls = calls
        self.warnings = warnings
    }

    /// Begins to collect the facts again, unless they are being collected.
    func refresh() {
        let mustStart = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard mustStart else { return }
        let collect: @Sendable () -> Void = { [self] in
            let stats = try? calls.show("store.stats")
            state.withLock { state in
                state.stats = stats ?? state.stats
                state.counted += 1
            }
            state.broadcast()
            let found = warnings()
            state.withLock { state in
                (state.warnings, state.isBusy) = (found, false)
            }
            state.broadcast()
        }
        if !Thread.start(name: "console home", collect) { collect() }
    }

    func page(_ page: Page) -> LoopbackResponse {
        let before = state.withLock { $0.counted }
        refresh()
        let deadline = Monotonic.nanoseconds() + Self.patienceNanoseconds
        _ = state.wait(deadline: deadline) { $0.counted > before && $0.warnings != nil ? () : nil }
        let (stats, warnings) = state.withLock { ($0.stats, $0.warnings) }
        let info = (try? page.calls.show("system.info")) ?? [:]
        let rows = stats?["rows"]
        let counts = [
            ("Tenants", "tenants", "tenant"), ("Accounts", "accounts", "account"), ("Sessions", "sessions", "session"),
            ("Identity pools", "pools", "pool"), ("Identities", "pools", "identity"), ("Roles", "roles", "role"),
            ("Signing keys", "keys", "signing_key"), ("Audit records", "audit", "audit"),
        ].map { title, path, table -> HTML in
            // The tenant `default` exists without a row until it is changed.
            let number = rows?[table]?.int.map { Display.count(table == "tenant" ? max(1, $0) : $0) } ?? "…"
            return "<li><a href=\"/\(path)\"><b>\(number)</b> <span>\(title)</span></a></li>"
        }.joined()
        var facts: JSONObject = [:]
        if let location = stats?["location"] { facts["store"] = location }
        for name in ["storeKind", "version", "schemaVersion", "issuer", "region", "account", "caller", "startedAt"] {
            facts[name] = info[name]
        }
        if let bytes = stats?["bytes"]?.int { facts["size"] = .string(Display.bytes(bytes)) }
        if let fingerprint = stats?["masterFingerprint"] { facts["masterKeyFingerprint"] = fingerprint }
        let problems: HTML =
            switch warnings {
            case nil: "<p class=\"soft\">The checks are running. Reload the page to see their results.</p>"
            case []?: "<p><span class=\"badge good\">ok</span> The checks of <code>mintmark doctor</code> found no problem.</p>"
            case let found?: "<ul class=\"warnings\">\(found.map { "<li>\($0)</li>" as HTML }.joined())</ul>"
            }
        return page.respond(
            "Overview",
            """
            <section data-live="/" data-every="5"><ul class="tiles">\(counts)</ul></section>\
            <div class="columns"><section class="card"><h2>Store</h2>\(Display.facts(.object(facts)))</section>\
            <section class="card"><h2>Checks</h2>\(problems)</section></div>
            """)
    }
}
