import JSON
import Loopback

extension Page {
    private static let filters = ["method", "poolId", "identityId"]

    func auditTable(_ list: JSONValue) -> HTML {
        Display.table(
            list["records"]?.array ?? [], empty: "No record matches. Calls that only read leave no record.",
            [
                Display.column("Time", "at"), Display.column("Method", "method"),
                (
                    "Subject",
                    { record in
                        let names = ["subject", "poolId", "identityId"].filter { record[$0] != nil }
                        // The subject of a change in a tenant is an account.
                        let isAccount = record["details"]?["tenantId"] != nil && record["subject"]?.string?.utf8.count == 36
                        let parts = names.map { name -> HTML in
                            Display.value(record[name], as: name != "subject" ? name : isAccount ? "accountId" : "subjectId")
                        }
                        return parts.isEmpty ? "<span class=\"soft\">–</span>" : parts.joined("<br>")
                    }
                ),
                ("Details", { $0["details"].map { "<code class=\"details\">\($0.text)</code>" } ?? "<span class=\"soft\">–</span>" }),
                ("Actor", { $0["actor"]?.string.map { Display.badge($0, "info") } ?? "<span class=\"soft\">–</span>" }),
                ("Record", { "<small><code>\($0["chain"]?.string ?? "")</code> \(String($0["sequence"]?.int ?? 0))</small>" }),
            ])
    }

    /// - Parameter result: The result of `audit.verify`, or `nil`.
    func audit(verified result: JSONValue? = nil) throws(CallError) -> LoopbackResponse {
        var params: JSONObject = [:]
        var more: [(name: String, value: String)] = []
        for name in Self.filters {
            guard let value = query.given(name) else { continue }
            params[name] = .string(value)
            more.append((name, value))
        }
        for name in ["since", "until"] {
            guard let value = query.given(name) else { continue }
            params[name] = Int64(value).map { .number(JSONNumber($0)) } ?? .string(value)
            more.append((name, value))
        }
        let list = try calls.show("audit.list", page(params))
        let inputs = (Self.filters + ["since", "until"]).map { name -> HTML in
            let hint: HTML = name == "since" || name == "until" ? " placeholder=\"seconds since 1970\" inputmode=\"numeric\"" : ""
            return "<label>\(Display.title(name)) <input name=\"\(name)\" value=\"\(query[name] ?? "")\"\(hint)></label>"
        }.joined()
        let verdict: HTML =
            result.map { result in
                let isIntact = result["intact"]?.bool == true
                let chains = Display.table(
                    result["chains"]?.array ?? [], empty: "The audit log has no chains yet.",
                    [
                        Display.column("Chain", "chain"), Display.column("Records", "records"), Display.column("Removed", "removedRecords"),
                        ("Verdict", { $0["intact"]?.bool == true ? Display.badge("intact", "good") : Display.badge("broken", "bad") }),
                        Display.column("Problem", "problem"),
                    ])
                let words = isIntact ? "The audit log is intact." : "The audit log is broken."
                return """
                    <div class="outcome \(isIntact ? "good" : "bad")"><p><b>\(words)</b></p>\(chains)\
                    <details><summary>As JSON</summary><pre data-result>\(Display.json(result))</pre></details></div>
                    """
            } ?? .none
        let verify = form("/audit", needsWrite: false, button: "Verify", style: "inline", .none)
        return respond(
            "Audit log", lead: "Every state change, newest first. Records form hash chains, which Verify checks.",
            """
            <div class="bar"><details class="filters"\(more.isEmpty ? HTML.none : " open")><summary>Filters</summary>\
            <form class="stack">\(inputs)<button type="submit">Apply</button></form></details>\(verify)</div>\(verdict)\
            \(auditTable(list))\(pager(list, more))
            """)
    }
}
