import Contract
import JSON
import Loopback
import Platform

extension Page {
    private var offered: [MethodInfo] {
        MethodTable.all.filter { !$0.isTesting || parts.mintmark.configuration.testing }
    }

    func methods() -> LoopbackResponse {
        var found = offered
        if let text = query.given("q") {
            let words = text.lowercased().split(separator: " ")
            let called = MethodInfo.called(text, among: found).map(\.name)
            found = found.filter { method in
                let all = "\(method.name) \(method.summary) \(method.description)".lowercased()
                return called.contains(method.name) || words.allSatisfy { all.includes($0) }
            }
        }
        var groups: [(name: String, methods: [MethodInfo])] = []
        for method in found {
            let name = String(method.name.prefix { $0 != "." })
            if groups.last?.name == name { groups[groups.count - 1].methods.append(method) } else { groups.append((name, [method])) }
        }
        let lists = groups.map { group -> HTML in
            let rows = group.methods.map { method -> HTML in
                let mark: HTML = method.isReadOnly ? .none : " \(Display.badge("writes", "warn"))"
                return """
                    <li><a href="/methods/\(method.name)"><code>\(method.name)</code></a>\(mark)\
                    <span>\(MethodForm.marked(method.summary))</span></li>
                    """
            }
            return "<section><h2>\(group.name)</h2><ul class=\"methods\">\(rows.joined())</ul></section>"
        }.joined()
        let none: HTML = "<div class=\"empty\"><p>No method matches. <a href=\"/methods\">Show all methods</a></p></div>"
        return respond(
            "Methods", lead: "Each method has a form. Names of other products are found too, such as GetId.",
            """
            <form class="search" role="search"><input type="search" name="q" value="\(query["q"] ?? "")" placeholder="Search methods" \
            aria-label="Search methods"><button type="submit">Search</button></form>\(found.isEmpty ? none : lists)
            """)
    }

    func method(_ name: String) -> LoopbackResponse {
        guard let info = offered.first(where: { $0.name == name }) else { return notFound() }
        let schema = FormSchema(info)
        return methodPage(info, MethodForm(schema: schema, values: query), params: FormParams(schema: schema).params(query))
    }

    func callMethod(_ name: String) -> LoopbackResponse {
        guard let info = offered.first(where: { $0.name == name }) else { return notFound() }
        if !info.isReadOnly, let refusal = refusalToWrite(name) { return refusal }
        let schema = FormSchema(info)
        let reader = FormParams(schema: schema)
        let params = reader.params(request.form)
        let form = MethodForm(schema: schema, values: request.form)
        let problems = reader.problems(request.form)
        if !problems.isEmpty {
            let list = problems.map { "<li>\($0)</li>" as HTML }.joined()
            let words: HTML =
                "<div class=\"outcome bad\" role=\"alert\"><p><b>Nothing was called.</b> Correct the form:</p><ul>\(list)</ul></div>"
            return methodPage(info, form, params: params, status: 400, outcome: words)
        }
        if let wanted = Self.confirmation(info, params), request.form.given("_confirm") != wanted {
            let words: HTML = "<p><b>Nothing was called.</b> Type <code>\(wanted)</code> in the last field to confirm.</p>"
            return methodPage(info, form, params: params, status: 400, outcome: "<div class=\"outcome bad\">\(words)</div>")
        }
        let outcome: HTML
        do throws(CallError) {
            let result = calls.masked(try calls.call(name, params), of: name)
            outcome = """
                <div class="outcome good" role="status"><p><b>The call succeeded.</b></p>\
                <pre data-result data-copy>\(Display.json(result))</pre></div>
                """
        } catch {
            let violations = (error.data["violations"]?.array ?? []).map { violation -> HTML in
                "<li><code>\(violation["pointer"]?.string ?? "")</code> \(violation["message"]?.string ?? "")</li>"
            }
            let list: HTML = violations.isEmpty ? .none : "<ul>\(violations.joined())</ul>"
            let text = violations.isEmpty ? error.message : "The parameters are not valid."
            outcome = """
                <div class="outcome bad" role="alert"><p><b>\(error.type)</b> \(text)</p>\(list)\
                <pre data-result data-copy>\(Display.json(calls.masked(error: error)))</pre></div>
                """
        }
        return methodPage(info, form, params: params, outcome: outcome)
    }

    private func methodPage(
        _ info: MethodInfo, _ fields: MethodForm, params: JSONObject, status: Int = 200, outcome: HTML = .none
    ) -> LoopbackResponse {
        var content = fields.fields()
        if content.text.isEmpty { content = "<p class=\"soft\">The method has no parameters.</p>" }
        let choices = fields.schema.choices.map { "<p class=\"note\">\(MethodForm.marked($0))</p>" as HTML }.joined()
        let json: HTML = """
            <details class="group"\(fields.values.given("_json") == nil ? HTML.none : " open")><summary>More parameters as JSON</summary>\
            <div class="field"><label for="field-json">JSON object</label><textarea id="field-json" name="_json" rows="3" \
            spellcheck="false">\(fields.values["_json"] ?? "")</textarea><p class="hint">Fields above take precedence.</p></div></details>
            """
        var confirm = HTML.none
        if Self.isDestructive(info) {
            let wanted = Self.confirmation(info, params).map { "<code>\($0)</code>" as HTML } ?? "the ID of the object"
            confirm = """
                <div class="field"><label for="field-confirm">Confirm</label><input id="field-confirm" name="_confirm" autocomplete="off">\
                <p class="hint">The call removes data. Type \(wanted) to confirm.</p></div>
                """
        }
        let marks = [
            Display.badge(info.isReadOnly ? "reads" : "writes", info.isReadOnly ? "" : "warn"),
            Display.badge("caller: \(info.caller.rawValue)"),
            info.isTesting ? Display.badge("testing", "info") : .none,
        ]
        let masked = calls.masked(params: params, of: info.name).object ?? [:]
        let texts = CallTexts(method: info.name, params: masked).all.map { title, text -> HTML in
            "<div class=\"call\"><h3>\(title)</h3><pre data-copy>\(text)</pre></div>"
        }
        let readOnly: HTML =
            info.isReadOnly || writes
            ? .none : "<p class=\"note\">This console is read-only. Start it with <code>--write</code> to call this method.</p>"
        let details: HTML = info.description.isEmpty ? .none : "<p class=\"description\">\(MethodForm.marked(info.description))</p>"
        return respond(
            info.name, status: status, lead: MethodForm.marked(info.summary), heading: "<code>\(info.name)</code>",
            """
            <p>\(marks.joined(" "))</p>\(details)\(outcome)\(readOnly)\
            \(form(
                "/methods/\(info.name)", needsWrite: !info.isReadOnly, button: "Call \(info.name)",
                style: Self.isDestructive(info) ? "call danger" : "call", choices + content + json + confirm))\
            <section><h2>The same call</h2><div class="calls">\(texts.joined())</div></section>
            """)
    }

    // MARK: Destructive methods

    private static let destructive = ["delete", "revoke", "withdraw", "merge", "reset", "unlink", "clear", "rekey", "restore"]

    private static func isDestructive(_ info: MethodInfo) -> Bool {
        let verb = info.name.split(separator: ".").last ?? ""
        return !info.isReadOnly && destructive.contains { verb.hasPrefix($0) }
    }

    /// Returns the text that must be typed before a destructive method is called: the ID of the object, or the name of the method if it
    /// has none.
    private static func confirmation(_ info: MethodInfo, _ params: JSONObject) -> String? {
        guard isDestructive(info) else { return nil }
        let names = info.params.map(\.name).filter {
            $0.hasSuffix("Id") || $0.hasSuffix("Ids") || ["kid", "name", "roleArn", "issuer"].contains($0)
        }
        let given = names.filter { params[$0] != nil }
        // The last ID is the most specific one, unless the object has a required ID of its own.
        let required = info.params.filter { $0.isRequired }.map(\.name)
        let best = given.last { required.contains($0) } ?? given.last
        let value = best.flatMap { params[$0] }
        return value?.string ?? value?.array?.first?.string ?? info.name
    }
}
