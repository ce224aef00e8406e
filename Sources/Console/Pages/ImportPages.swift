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
        guard let number = Int(text), let job = router.imports[number] else { return notFound() }
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

extension Router {
    /// Receives the form of an import. The file goes to a private file of this process, part by part.
    func importUpload(_ stream: LoopbackStream, _ request: PageRequest) {
        let page = Page(self, request)
        if let refusal = page.refusalToWrite("account.import") { return stream.answer(refusal) }
        guard var reader = MultipartReader(contentType: request.headers.header("content-type") ?? "") else {
            return stream.answer(page.message(400, "Not a form", "Send the form of the page Import, as multipart/form-data."))
        }
        guard let file = imports.newFile() else {
            return stream.answer(page.message(500, "No room", "The file cannot be stored in the temporary folder (TMPDIR)."))
        }
        var form = Fields()
        var lines = 0
        var last: UInt8 = 0x0A
        let problem = receive(stream, &reader) { event -> Bool in
            switch event {
            case .field(let name, let value): form.add(name, value)
            case .file(let bytes):
                lines += bytes.count { $0 == 0x0A }
                last = bytes.last ?? last
                return Self.write(bytes, to: file.descriptor)
            }
            return true
        }
        if last != 0x0A { lines += 1 }
        close(file.descriptor)
        guard problem == nil, constantTimeEquals(form["_token"] ?? "", request.formToken) else {
            unlink(file.path)
            let response = problem.map { page.message(400, "The upload failed", $0) }
            return stream.answer(response ?? forbidden("The form has no valid token. Reload its page and send it again.", request))
        }
        var params = Page.importSchema.map { FormParams(schema: $0).params(form) } ?? [:]
        for name in ["file", "accounts", "from"] { params[name] = nil }
        let number = imports.start(calls, path: file.path, lines: lines, params: params)
        stream.answer(redirect(to: "/import/\(number)"))
    }

    /// Returns the problem, or `nil` after the whole form was received.
    private func receive(_ stream: LoopbackStream, _ reader: inout MultipartReader, _ take: (MultipartReader.Event) -> Bool) -> String? {
        while true {
            guard let part = stream.read() else { return "The connection ended before the end of the form. Nothing was imported." }
            guard let events = reader.take(part) else { return "The form is not valid multipart/form-data, or a field is too long." }
            for event in events where !take(event) { return "The file could not be stored. Free space in the temporary folder (TMPDIR)." }
            if part.isEmpty { return reader.isComplete ? nil : "The form ends in the middle. Nothing was imported." }
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            done += count
        }
        return true
    }
}
