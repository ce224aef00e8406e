import Contract
import Crypto
import Glibc
import JSON
import Loopback

extension Page {
    private static let parameters = ["tenantId", "format", "onExisting", "dryRun", "hash"]

    static var importSchema: FormSchema? { MethodTable.all.first { $0.name == "account.import" }.map { FormSchema($0) } }

    func importForm() -> LoopbackResponse {
        let fields = Self.importSchema.map { MethodForm(schema: $0, values: Fields()).fields(only: Self.parameters) } ?? .none
        let off: HTML = writes ? .none : " disabled"
        let note: HTML =
            writes ? .none : "<p class=\"note\">This console is read-only. Start it with <code>--write</code> to import accounts.</p>"
        return respond(
            "Import", lead: "Imports accounts with their password hashes from a file with one JSON object per line.",
            """
            \(note)<form method="post" action="/import" enctype="multipart/form-data" class="call">\
            <input type="hidden" name="_token" value="\(request.formToken)">\(fields)\
            <div class="field"><label for="file">File <span class="need">required</span></label>\
            <input type="file" id="file" name="file" required>\
            <p class="hint">JSON Lines, of any length. The file is stored privately until the import ends.</p></div>\
            <button type="submit"\(off)>Import</button></form>\
            <p class="soft">Which hashes are accepted: <code>mintmark help importing-users</code>.</p>
            """)
    }

    func importJob(_ text: String) -> LoopbackResponse {
        guard let number = Int(text), let job = parts.imports[number] else { return notFound() }
        let line = job.result?["nextLine"]?.int ?? job.progress?["nextLine"]?.int ?? 1
        let done = job.isOver ? Int64(job.lines) : max(0, line - 1)
        let counts = job.result ?? job.progress ?? [:]
        let tiles = ["imported", "replaced", "skipped", "failed"].map { name -> HTML in
            "<li><span class=\"tile\"><b>\(Display.count(counts[name]?.int ?? 0))</b> <span>\(Display.title(name))</span></span></li>"
        }.joined()
        var words: HTML = "<p role=\"status\">The import is running: line \(Display.count(done)) of \(Display.count(Int64(job.lines))).</p>"
        var failures = HTML.none
        if let error = job.error {
            words = "<div class=\"outcome bad\"><p>\(error["message"]?.string ?? "")</p><pre data-result>\(Display.json(error))</pre></div>"
        } else if let result = job.result {
            let isDone = result["completed"]?.bool == true
            let end = job.isDryRun ? "The dry run is complete. Nothing was changed." : "The import is complete."
            let stop = result["stopped"]?["message"]?.string ?? ""
            words = "<div class=\"outcome \(isDone ? "good" : "bad")\" role=\"status\"><p>\(isDone ? end : stop)</p></div>"
            failures = """
                <section><h2>Failures</h2>\(Display.table(
                    result["failures"]?.array ?? [], empty: "No line failed.",
                    [
                        Display.column("Line", "line"), Display.column("Account", "accountId"),
                        ("Problems", { failure in
                            (failure["violations"]?.array ?? []).map { violation -> HTML in
                                "<p><code>\(violation["pointer"]?.string ?? "")</code> \(violation["message"]?.string ?? "")</p>"
                            }.joined()
                        }),
                    ]))</section>
                """
        }
        let live: HTML = job.isOver ? .none : " data-live=\"/import/\(number)\" data-every=\"0.5\""
        return respond(
            "Import \(number)",
            """
            <div\(live)><progress value="\(Int(done))" max="\(max(1, job.lines))" aria-label="Progress of the import"></progress>\
            \(words)<ul class="tiles">\(tiles)</ul>\(failures)</div>\
            <p class="pager"><a class="button" href="/import">Another import</a><a class="button" href="/accounts">Accounts</a></p>
            """)
    }
}
