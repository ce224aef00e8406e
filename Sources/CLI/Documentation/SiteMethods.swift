import Contract
import JSON
import Platform

/// The pages of the methods.
extension Site {
    var methodList: String {
        let text = HTMLText(root: "../")
        var content =
            "<h1>Methods</h1>\n<p class=\"lead\">\(Contract.MethodTable.all.count) methods, by namespace. Public methods are also "
        content += "available with <code class=\"option\">--caller public</code>.</p>\n"
        for group in Self.namespaces {
            content += "<h2 id=\"\(group.name)\">\(group.name)</h2>\n<div class=\"table\"><table>\n<tbody>\n"
            for method in group.methods {
                content += "<tr><td>\(text.identifier(method.name))</td><td>\(text.description(method.summary))</td></tr>\n"
            }
            content += "</tbody>\n</table></div>\n"
        }
        return frame("methods/index.html", title: "Methods", side: methodSide("../", current: nil), content)
    }

    func page(
        of method: MethodInfo, _ group: (name: String, methods: [MethodInfo]), _ neighbors: (before: MethodInfo?, after: MethodInfo?)
    ) -> String {
        let text = HTMLText(root: "../")
        let object = (try? JSONValue(parsing: method.openRPC)) ?? .null
        var content = "<h1><code>\(HTMLText.escaped(method.name))</code></h1>\n<p class=\"lead\">\(text.description(method.summary))</p>\n"
        let marks = [
            ("public", method.caller == .public ? "public" : nil), ("", method.caller == .developer ? "developer only" : nil),
            ("", method.isReadOnly ? "only reads the store" : "can change the store"), ("", method.isTesting ? "only with --testing" : nil),
        ]
        content += "<ul class=\"marks\">"
        for (name, mark) in marks { if let mark { content += "<li\(name.isEmpty ? "" : " class=\"\(name)\"")>\(mark)</li>" } }
        content += "</ul>\n<p>\(text.description(method.description))</p>\n"
        content += fields("Parameters", "parameters", method.params, text: text, isInput: true) + choices(object, text)
        content += fields("Result", "result", method.result, text: text, isInput: false)
        if method.result.isEmpty { content += "<h2 id=\"result\">Result</h2>\n<p>\(text.description(resultText(object)))</p>\n" }
        content += examples(method, object)
        if !method.errors.isEmpty {
            content += "<h2 id=\"errors\">Errors</h2>\n<dl>\n"
            for name in method.errors {
                let error = Contract.ErrorTable.all.first { $0.type == name }
                content += "<dt>\(text.identifier(name)) <span class=\"sign\">\(error?.code ?? 0)</span></dt>\n"
                content += "<dd>\(text.description(error?.when ?? ""))</dd>\n"
            }
            content += "</dl>\n"
        }
        content +=
            "<p class=\"soft\">Every method can also return the <a href=\"../errors.html\">errors</a> of the blocks 1xxx and 8xxx,"
        content += " and those of JSON-RPC.</p>\n" + equivalents(method.equivalents.map { ($0.vendor, $0.names) })
        content += "<nav class=\"pager\" aria-label=\"Neighbors\">"
        if let before = neighbors.before { content += "<span>← \(text.identifier(before.name))</span>" }
        if let after = neighbors.after { content += "<span>\(text.identifier(after.name)) →</span>" }
        return frame(Self.page(ofMethod: method.name), title: method.name, side: methodSide("../", current: method), content + "</nav>\n")
    }

    func resultText(_ object: JSONValue) -> String {
        object["result"]?["schema"]?["description"]?.string ?? "An object without members."
    }

    func fields(_ title: String, _ anchor: String, _ fields: [FieldInfo], text: HTMLText, isInput: Bool) -> String {
        guard !fields.isEmpty else { return isInput ? "<h2 id=\"\(anchor)\">\(title)</h2>\n<p>None.</p>\n" : "" }
        var content = "<h2 id=\"\(anchor)\">\(title)</h2>\n<dl>\n"
        for field in fields {
            let need = !isInput ? "" : field.isRequired ? "required" : field.defaultValue.map { "default \($0)" } ?? ""
            content +=
                "<dt><code>\(HTMLText.escaped(field.name))</code> <span class=\"sign\">\(text.type(field.type, among: typeNames))</span>"
            if !need.isEmpty { content += " <span class=\"need\">\(HTMLText.escaped(need))</span>" }
            content += "</dt>\n<dd>\(text.description(field.description))</dd>\n"
        }
        return content + "</dl>\n"
    }

    func choices(_ object: JSONValue, _ text: HTMLText) -> String {
        (object["x-choices"]?.array ?? []).map { choice in
            let names = (choice["of"]?.array ?? []).compactMap(\.string).map { "<code>\(HTMLText.escaped($0))</code>" }.joined(
                separator: ", ")
            let rule =
                switch choice["rule"]?.string {
                case "exactlyOne": "Exactly one of \(names) must be given."
                case "atLeastOne": "At least one of \(names) must be given."
                default: "At most one of \(names) can be given."
                }
            return "<p>\(rule)</p>\n"
        }.joined()
    }

    func examples(_ method: MethodInfo, _ object: JSONValue) -> String {
        let all = object["examples"]?.array ?? []
        let calls = documentation.calls[method.name]?.object ?? [:]
        guard !all.isEmpty || !calls.isEmpty else { return "" }
        var content = "<h2 id=\"example\">\(all.count > 1 ? "Examples" : "Example")</h2>\n"
        for (number, example) in all.enumerated() {
            if all.count > 1 { content += "<h3>\(HTMLText.escaped(sentence(example["name"]?.string ?? "")))</h3>\n" }
            var params = JSONObject()
            for each in example["params"]?.array ?? [] { params[each["name"]?.string ?? ""] = each["value"] ?? .null }
            var request: JSONObject = ["jsonrpc": "2.0", "id": 1, "method": .string(method.name)]
            if !params.isEmpty { request["params"] = .object(params) }
            let json = HTMLText.code(CompactJSON.text(.object(request)))
            if number == 0 {
                content += tabs([("JSON", json)] + calls.members.map { ($0.name, HTMLText.code($0.value.string ?? "")) })
            } else {
                content += json
            }
            content += HTMLText.code(CompactJSON.text(example["result"]?["value"] ?? .null), caption: "Result")
        }
        return content
    }

    /// Returns sections, of which the script of the site makes tabs.
    func tabs(_ sections: [(language: String, content: String)]) -> String {
        let all = sections.map { language, content in
            "<section data-name=\"\(HTMLText.escaped(language))\"><h3>\(HTMLText.escaped(language))</h3>\n\(content)</section>\n"
        }
        return "<div class=\"calls\">\n\(all.joined())</div>\n"
    }

    /// Returns the calls of the methods in a script of a guide in each language, or an empty text if it calls none.
    func otherLanguages(_ script: String) -> String {
        var names: [String] = []
        for part in script.pieces(separatedBy: "mintmark call ").dropFirst() {
            let name = String(part.prefix { $0.isLetter || $0 == "." })
            if documentation.calls[name] != nil, !names.contains(name) { names.append(name) }
        }
        guard let first = names.first, let languages = documentation.calls[first]?.object?.names else { return "" }
        let sections = languages.filter { $0 != "Command line" }.map { language in
            let calls = names.compactMap { documentation.calls[$0]?[language]?.string }
            return (language: language, content: HTMLText.code(calls.joined(separator: "\n\n")))
        }
        let text = HTMLText(root: "../")
        let links = names.map { text.identifier($0) }.joined(separator: ", ")
        return """
            <details class="languages"><summary>In other languages</summary>
            <p>Calls of \(links), with the parameters of their own examples:</p>
            \(tabs(sections))</details>

            """
    }

    func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    func equivalents(_ all: [(vendor: String, names: String)]) -> String {
        guard !all.isEmpty else { return "" }
        let names = [
            "cognito": "Amazon Cognito", "sts": "AWS STS", "iam": "AWS IAM", "firebase": "Firebase", "nativeAuth": "Microsoft Entra",
        ]
        let rows = all.map { "<li>\(HTMLText.escaped(names[$0.vendor] ?? $0.vendor)): \(HTMLText.escaped($0.names))</li>\n" }.joined()
        return "<h2 id=\"equivalents\">In other products</h2>\n<ul>\n\(rows)</ul>\n"
    }
}
