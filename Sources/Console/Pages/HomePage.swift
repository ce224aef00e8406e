import JSON
import Loopback
import Platform

/// The facts of the first page. Counting rows and checking the store can take long, so both are done on another thread.
final class HomeFacts: Sendable {
    private struct State {
        var stats: JSONValue?
        var warnings: [String]?
        var isBusy = false
        var takenAt: UInt64 = 0
    }

    private static let patienceNanoseconds: UInt64 = 50_000_000
    private static let freshNanoseconds: UInt64 = 1_000_000_000

    private let calls: Calls
    private let warnings: @Sendable () -> [String]
    private let state = ConditionLock(State())

    init(_ calls: Calls, warnings: @escaping @Sendable () -> [String]) {
        self.calls = calls
        self.warnings = warnings
    }

    /// Begins to collect the facts again, unless they are recent or being collected.
    func refresh() {
        let mustStart = state.withLock { state in
            guard !state.isBusy, state.takenAt == 0 || Monotonic.nanoseconds() - state.takenAt > Self.freshNanoseconds else { return false }
            state.isBusy = true
            return true
        }
        guard mustStart else { return }
        let collect: @Sendable () -> Void = { [self] in
            let stats = try? calls.show("store.stats")
            state.withLock { $0.stats = stats ?? $0.stats }
            state.broadcast()
            let found = warnings()
            state.withLock { state in
                (state.warnings, state.isBusy, state.takenAt) = (found, false, Monotonic.nanoseconds())
            }
            state.broadcast()
        }
        if !Thread.start(name: "console home", collect) { collect() }
    }

    func page(_ page: Page) -> LoopbackResponse {
        refresh()
        let deadline = Monotonic.nanoseconds() + Self.patienceNanoseconds
        _ = state.wait(deadline: deadline) { $0.isBusy ? nil : () }
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
