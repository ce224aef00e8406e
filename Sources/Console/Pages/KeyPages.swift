import JSON
import Loopback

extension Page {
    func keys() throws(CallError) -> LoopbackResponse {
        var params: JSONObject = [:]
        var more: [(name: String, value: String)] = []
        for name in ["tenantId", "poolId"] {
            guard let value = query.given(name) else { continue }
            params[name] = .string(value)
            more.append((name, value))
        }
        let list = try calls.show("key.list", page(params))
        let keys = list["keys"]?.array ?? []
        let owner: (JSONValue) -> HTML = { key in
            // The keys of the account have neither: its issuer stands for the key with ES384.
            let name = key["tenantId"] != nil ? "tenantId" : key["poolId"] != nil ? "poolId" : "issuer"
            return Display.value(key[name], as: name)
        }
        let table = Display.table(
            keys, empty: "There are no signing keys yet. The first token of a tenant or pool creates its key.",
            [
                ("Owner", { "\(owner($0))<small><code>\($0["kid"]?.string ?? "")</code></small>" }),
                Display.column("Algorithm", "algorithm"), Display.column("State", "state"),
                Display.column("Created", "createdAt"), Display.column("Active", "activeAt"), Display.column("Retired", "retiredAt"),
                Display.column("Published until", "publishedUntil"),
            ])
        let issuers = keys.reduce(into: [String]()) { found, key in
            if let issuer = key["issuer"]?.string, !found.contains(issuer) { found.append(issuer) }
        }
        var sets = HTML.none
        for issuer in issuers.prefix(20) {
            let set = try calls.show("token.jwks", ["issuer": .string(issuer)])
            let text = Display.json(["keys": set["keys"] ?? []])
            sets += "<details class=\"set\"><summary>\(issuer)</summary><pre data-copy>\(text)</pre></details>"
        }
        let owners = keys.reduce(into: [(name: String, id: String)]()) { found, key in
            let name = key["tenantId"] != nil ? "tenantId" : "poolId"
            guard let id = key[name]?.string, !found.contains(where: { $0.id == id }) else { return }
            found.append((name, id))
        }
        let options = owners.map { "<option value=\"\($0.name) \($0.id)\">\($0.id)</option>" as HTML }.joined()
        let rotate: HTML =
            owners.isEmpty
            ? .none
            : """
            <section class="card"><h2>Rotate</h2><p class="soft">The new key is published at once and signs after the delay, so that \
            verifiers have loaded it by then.</p>\
            \(form("/keys", button: "Rotate", style: "stack", """
                <label>Owner <select name="owner">\(options)</select></label>\
                <label>Delay in seconds <input name="activateAfterSeconds" value="86400" inputmode="numeric"></label>
                """))</section>
            """
        let timeline: HTML = keys.isEmpty ? .none : "<section class=\"card\"><h2>Timeline</h2>\(KeyTimeline(keys).picture)</section>"
        let jwks: HTML = issuers.isEmpty ? .none : "<section><h2>Key sets (JWKS)</h2>\(sets)</section>"
        return respond(
            "Signing keys", lead: "Private keys never leave the store.",
            timeline + table + pager(list, more) + jwks + rotate)
    }

    func rotate() throws(CallError) -> LoopbackResponse {
        if let refusal = refusalToWrite("key.rotate") { return refusal }
        let owner = (request.form["owner"] ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        var params: JSONObject = [:]
        if owner.count == 2 { params[owner[0]] = .string(owner[1]) }
        if let delay = request.form.given("activateAfterSeconds") {
            params["activateAfterSeconds"] = Int64(delay).map { .number(JSONNumber($0)) } ?? .string(delay)
        }
        _ = try calls.call("key.rotate", params)
        return .redirect(to: "/keys")
    }
}

/// Draws when each key was published, signed, and was retired.
struct KeyTimeline {
    private static let width = 760
    private static let left = 150
    private static let row = 26

    private let keys: [JSONValue]
    private let begin: Int64
    private let end: Int64
    private let now: Int64

    init(_ keys: [JSONValue]) {
        self.keys = Array(keys.prefix(40))
        let names = ["createdAt", "activeAt", "retiredAt", "revokedAt", "publishedUntil"]
        let times = keys.flatMap { key in names.compactMap { key[$0]?.int } }.filter { $0 > 0 }
        begin = times.min() ?? 0
        // Active keys have no end yet: they run over the edge of the picture.
        let last = times.max() ?? 1
        end = last + max(3600, (last - begin) / 6)
        now = last
    }

    private func x(_ time: Int64) -> Int {
        Self.left + Int(Double(min(max(time, begin), end) - begin) / Double(max(1, end - begin)) * Double(Self.width - Self.left - 8))
    }

    var picture: HTML {
        let height = keys.count * Self.row + 30
        let rows = keys.enumerated().map { index, key -> HTML in
            let created = key["createdAt"]?.int ?? begin
            let active = key["activeAt"]?.int ?? end
            let stop = key["revokedAt"]?.int ?? key["retiredAt"]?.int ?? end
            let parts: [(style: String, from: Int64, to: Int64)] = [
                ("next", created, min(active, stop)), ("active", active, stop), ("retired", stop, key["publishedUntil"]?.int ?? stop),
            ]
            let (state, kid) = (key["state"]?.string ?? "", key["kid"]?.string ?? "")
            let owner = key["tenantId"]?.string ?? key["poolId"]?.string ?? ""
            let bars = parts.filter { $0.to > $0.from }.map { part -> HTML in
                """
                <rect class="\(part.style)" x="\(x(part.from))" y="\(index * Self.row + 6)" width="\(max(2, x(part.to) - x(part.from)))" \
                height="14" rx="3"/>
                """
            }.joined()
            return """
                <g data-key="\(kid)"><title>\(kid): \(state), created \(Display.date(created))</title>\
                <text class="axis" x="0" y="\(index * Self.row + 17)">\(GraphPicture.cut(owner, 21))</text>\(bars)</g>
                """
        }.joined()
        let axis = [begin, (begin + end) / 2, end].enumerated().map { index, time -> HTML in
            let text = Display.date(time, time: end - begin < 172_800)
            let anchor: HTML = index == 0 ? "start" : index == 1 ? "middle" : "end"
            return
                "<text class=\"axis\" x=\"\(x(time))\" y=\"\(height - 8)\" text-anchor=\"\(anchor)\">\(text)</text>"
        }.joined()
        let legend = [("next", "published"), ("active", "signs"), ("retired", "verifies only")].map { style, name -> HTML in
            "<span class=\"\(style)\">\(name)</span>"
        }.joined(" ")
        return """
            <p class="legend">\(legend)</p><div class="picture" tabindex="0"><svg class="plot keys" data-timeline role="img" \
            viewBox="0 0 \(Self.width) \(height)" aria-label="Timeline of the keys">\
            <title>Timeline of the keys</title>\(rows)\(axis)</svg></div>
            """
    }
}
