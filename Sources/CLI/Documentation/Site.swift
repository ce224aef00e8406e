import Contract
import JSON
import Mintmark

/// The documentation as a static site. All links are relative, and nothing is loaded from elsewhere.
struct Site {
    private let documentation = Documentation()
    private let commands = CommandTable()
    private let types = TypeDescriptions()
    private let errors = Documentation.errors
    private let errorData = OpenRPCDocument.errorDataSchemas
    private let typeNames: Set<String>

    init() { typeNames = Set(types.names) }

    /// A method with the part of its name before the dot.
    private static let namespaces: [(name: String, methods: [MethodInfo])] = {
        var groups: [(name: String, methods: [MethodInfo])] = []
        for method in Contract.MethodTable.all {
            let name = String(method.name.prefix { $0 != "." })
            if groups.last?.name != name { groups.append((name, [])) }
            groups[groups.count - 1].methods.append(method)
        }
        return groups
    }()

    /// Returns the page of a guide, from the root of the site.
    static func page(ofGuide name: String) -> String {
        switch name {
        case "README": "guides/index.html"
        case "glossary": "glossary.html"
        default: "guides/\(name).html"
        }
    }

    /// Returns the page of a method, from the root of the site.
    static func page(ofMethod name: String) -> String { "methods/\(name).html" }

    /// Returns all files with their paths.
    func files() -> [(path: String, text: String)] {
        var files = [("index.html", index), ("style.css", documentation.style), ("site.js", documentation.script)]
        for guide in documentation.guides where guide.name != "glossary" { files.append((Self.page(ofGuide: guide.name), page(of: guide))) }
        files += [("methods/index.html", methodList), ("types.html", typeList), ("errors.html", errorList)]
        files += [("commands.html", commandList), ("glossary.html", glossary), ("search-index.js", searchIndex)]
        files.append(("openrpc.json", String(decoding: OpenRPCDocument.describing { _ in true }.bytes, as: UTF8.self) + "\n"))
        for group in Self.namespaces {
            for (number, method) in group.methods.enumerated() {
                let neighbors = (
                    number > 0 ? group.methods[number - 1] : nil, number + 1 < group.methods.count ? group.methods[number + 1] : nil
                )
                files.append((Self.page(ofMethod: method.name), page(of: method, group, neighbors)))
            }
        }
        return files
    }

    // MARK: Frame

    private static let places = [
        ("guides/index.html", "Guides"), ("methods/index.html", "Methods"), ("types.html", "Types"), ("errors.html", "Errors"),
        ("commands.html", "Commands"), ("glossary.html", "Glossary"),
    ]

    /// Returns a complete page.
    ///
    /// - Parameters:
    ///   - path: The path of the page in the site.
    ///   - side: The list beside the page.
    private func frame(_ path: String, title: String, side: String, _ content: String) -> String {
        let root = path.contains("/") ? "../" : ""
        let folder = path.prefix { $0 != "/" }
        let places = Self.places.map { place, name in
            let isHere = place == path || place.contains("/") && path.contains("/") && place.hasPrefix(folder + "/")
            return "<a href=\"\(root)\(place)\"\(isHere ? " aria-current=\"page\"" : "")>\(name)</a>"
        }.joined(separator: "\n")
        let name = HTMLText.escaped(title)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="generator" content="mintmark docs \(HTMLText.escaped(Mintmark.version))">
            <title>\(path == "index.html" ? "Mintmark" : name + " – Mintmark")</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="\(root)style.css">
            <script src="\(root)site.js" defer></script>
            </head>
            <body>
            <a class="skip" href="#content">Skip to the content</a>
            <header class="top">
            <a class="brand" href="\(root)index.html">Mintmark<small>\(HTMLText.escaped(Mintmark.version))</small></a>
            <nav class="places" aria-label="Parts">
            \(places)
            </nav>
            <div class="search" role="search"></div>
            </header>
            <div class="layout">
            <main id="content">
            \(content)</main>
            <nav class="side" aria-label="Pages">
            \(side)</nav>
            </div>
            </body>
            </html>

            """
    }

    private func links(_ entries: [(href: String, title: String, isHere: Bool)]) -> String {
        entries.map { entry in
            let here = entry.isHere ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(HTMLText.escaped(entry.href))\"\(here)>\(HTMLText.escaped(entry.title))</a></li>\n"
        }.joined()
    }

    private func guideSide(_ root: String, current: String?, sections: [(anchor: String, title: String)] = []) -> String {
        var items = ""
        for guide in tasks.flatMap(\.guides) {
            let isHere = guide.name == current
            var item = links([(root + Self.page(ofGuide: guide.name), guide.title, isHere)])
            if isHere, !sections.isEmpty {
                item.removeLast("</li>\n".count)
                item += "\n<ul>\n" + links(sections.map { ("#" + $0.anchor, $0.title, false) }) + "</ul></li>\n"
            }
            items += item
        }
        return "<h2>Guides</h2>\n<ul>\n\(items)</ul>\n"
    }

    private func methodSide(_ root: String, current: MethodInfo?) -> String {
        let namespace = current.map { $0.name.prefix { $0 != "." } }
        let items = Self.namespaces.map { group in
            let isOpen = group.name == namespace.map(String.init)
            var item = links([("\(root)methods/index.html#\(group.name)", group.name, false)])
            if isOpen {
                item.removeLast("</li>\n".count)
                let methods = group.methods.map { (root + Self.page(ofMethod: $0.name), $0.name, $0.name == current?.name) }
                item += "\n<ul>\n" + links(methods) + "</ul></li>\n"
            }
            return item
        }.joined()
        return "<h2>Methods</h2>\n<ul>\n\(items)</ul>\n"
    }

    // MARK: Start

    private var index: String {
        let text = HTMLText(root: "")
        var content =
            "<h1>Mintmark</h1>\n<p class=\"lead\">An identity service that runs as one process inside your program or test: sign-up,"
        content += " sign-in, social login, second factors, sessions, signed tokens and temporary credentials.</p>\n"
        content += HTMLText.code(
            "$ echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"system.ping\"}' | mintmark serve --store :memory:\n"
                + "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"now\":1795231848}}")
        content += "<h2 id=\"guides\">Guides</h2>\n<ul class=\"cards\">\n"
        for (task, guides) in tasks {
            for guide in guides {
                content += "<li><a href=\"\(Self.page(ofGuide: guide.name))\"><b>\(HTMLText.escaped(guide.title))</b>"
                content += "<span>\(sentence(text.inline(task, links: false)))</span></a></li>\n"
            }
        }
        content += "</ul>\n<h2 id=\"methods\">Methods</h2>\n<ul class=\"cards\">\n"
        for group in Self.namespaces {
            let verbs = group.methods.map { String($0.name.dropFirst(group.name.count + 1)) }.joined(separator: ", ")
            content +=
                "<li><a href=\"methods/index.html#\(group.name)\"><b>\(group.name)</b><span>\(HTMLText.escaped(verbs))</span></a></li>\n"
        }
        return frame("index.html", title: "Mintmark", side: guideSide("", current: nil) + methodSide("", current: nil), content + "</ul>\n")
    }

    /// The tasks of the list of guides, each with the guides for it. Guides that the list does not link in its table follow.
    private var tasks: [(task: [Markdown.Inline], guides: [Documentation.Guide])] {
        let list = documentation.guides.first { $0.name == "README" }
        var tasks: [(task: [Markdown.Inline], guides: [Documentation.Guide])] = []
        for block in Markdown(list?.text ?? "").blocks {
            guard case .table(_, let rows) = block else { continue }
            for row in rows where row.count == 2 {
                let targets = Markdown.links(in: row[1])
                tasks.append((row[0], documentation.topics.filter { targets.contains($0.name + ".md") }))
            }
        }
        let listed = Set(tasks.flatMap { $0.guides.map(\.name) })
        let rest = documentation.topics.filter { !listed.contains($0.name) }
        return tasks + [([.text("look something up")], rest)]
    }

    // MARK: Guides

    private func page(of guide: Documentation.Guide) -> String {
        let markdown = Markdown(guide.text)
        let content = HTMLText(root: "../").blocks(markdown.blocks)
        let side = guideSide("../", current: guide.name, sections: markdown.sections)
        return frame(Self.page(ofGuide: guide.name), title: guide.title, side: side, content)
    }

    private var glossary: String {
        let guide = documentation.guides.first { $0.name == "glossary" }
        let text = HTMLText(root: "")
        var content = ""
        for block in Markdown(guide?.text ?? "").blocks {
            guard case .table(_, let rows) = block else {
                content += text.blocks([block])
                continue
            }
            content += "<dl class=\"terms\">\n"
            for row in rows where row.count == 2 {
                content +=
                    "<dt id=\"\(HTMLText.escaped(Markdown.anchor(row[0])))\">\(text.inline(row[0]))</dt>\n<dd>\(text.inline(row[1]))</dd>\n"
            }
            content += "</dl>\n"
        }
        return frame("glossary.html", title: guide?.title ?? "Glossary", side: guideSide("", current: "glossary"), content)
    }

    private var terms: [(term: String, anchor: String, definition: String)] {
        let guide = documentation.guides.first { $0.name == "glossary" }
        return Markdown(guide?.text ?? "").blocks.flatMap { block -> [(term: String, anchor: String, definition: String)] in
            guard case .table(_, let rows) = block else { return [] }
            return rows.filter { $0.count == 2 }.map { (Markdown.plain($0[0]), Markdown.anchor($0[0]), Markdown.plain($0[1])) }
        }
    }

    // MARK: Methods

    private var methodList: String {
        let text = HTMLText(root: "../")
        var content =
            "<h1>Methods</h1>\n<p class=\"lead\">\(Contract.MethodTable.all.count) methods, by namespace. Public methods are also "
        content += "available with <code>--caller public</code>.</p>\n"
        for group in Self.namespaces {
            content += "<h2 id=\"\(group.name)\">\(group.name)</h2>\n<div class=\"table\"><table>\n<tbody>\n"
            for method in group.methods {
                content += "<tr><td>\(text.identifier(method.name))</td><td>\(text.description(method.summary))</td></tr>\n"
            }
            content += "</tbody>\n</table></div>\n"
        }
        return frame("methods/index.html", title: "Methods", side: methodSide("../", current: nil), content)
    }

    private func page(
        of method: MethodInfo, _ group: (name: String, methods: [MethodInfo]), _ neighbors: (before: MethodInfo?, after: MethodInfo?)
    ) -> String {
        let text = HTMLText(root: "../")
        let object = (try? JSONValue(parsing: method.openRPC.description)) ?? .null
        var content = "<h1><code>\(HTMLText.escaped(method.name))</code></h1>\n<p class=\"lead\">\(text.description(method.summary))</p>\n"
        let marks = [
            ("public", method.caller == .public ? "public" : nil), ("", method.caller == .developer ? "developer only" : nil),
            ("", method.isReadOnly ? "reads only" : "may change the store"), ("", method.isTesting ? "only with --testing" : nil),
        ]
        content += "<ul class=\"marks\">"
        for (name, mark) in marks { if let mark { content += "<li\(name.isEmpty ? "" : " class=\"\(name)\"")>\(mark)</li>" } }
        content += "</ul>\n<p>\(text.description(method.description))</p>\n"
        content += fields("Parameters", "parameters", method.params, text, isInput: true) + choices(object, text)
        content += fields("Result", "result", method.result, text, isInput: false)
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

    private func resultText(_ object: JSONValue) -> String {
        object["result"]?["schema"]?["description"]?.string ?? "An object without members."
    }

    private func fields(_ title: String, _ anchor: String, _ fields: [FieldInfo], _ text: HTMLText, isInput: Bool) -> String {
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

    private func choices(_ object: JSONValue, _ text: HTMLText) -> String {
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

    private func examples(_ method: MethodInfo, _ object: JSONValue) -> String {
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
                content += "<div class=\"calls\">\n<section data-name=\"JSON\"><h3>JSON</h3>\n\(json)</section>\n"
                for (language, call) in calls.members {
                    let code = HTMLText.code(call.string ?? "")
                    content +=
                        "<section data-name=\"\(HTMLText.escaped(language))\"><h3>\(HTMLText.escaped(language))</h3>\n\(code)</section>\n"
                }
                content += "</div>\n"
            } else {
                content += json
            }
            content += HTMLText.code(CompactJSON.text(example["result"]?["value"] ?? .null), caption: "Result")
        }
        return content
    }

    private func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    private func equivalents(_ all: [(vendor: String, names: String)]) -> String {
        guard !all.isEmpty else { return "" }
        let names = [
            "cognito": "Amazon Cognito", "sts": "AWS STS", "iam": "AWS IAM", "firebase": "Firebase", "nativeAuth": "Microsoft Entra",
        ]
        let rows = all.map { "<li>\(HTMLText.escaped(names[$0.vendor] ?? $0.vendor)): \(HTMLText.escaped($0.names))</li>\n" }.joined()
        return "<h2 id=\"equivalents\">In other products</h2>\n<ul>\n\(rows)</ul>\n"
    }

    // MARK: Types

    private var typeList: String {
        let text = HTMLText(root: "")
        var content = "<h1>Types</h1>\n<p class=\"lead\">The types that several methods share.</p>\n"
        for name in types.names {
            let schema = types.schema(name) ?? .null
            let id = HTMLText.escaped(name)
            content += "<section class=\"entry\" id=\"\(id)\">\n<h2><code>\(id)</code></h2>\n"
            if let description = schema["description"]?.string { content += "<p>\(text.description(description))</p>\n" }
            let members = types.members(name) ?? []
            guard !members.isEmpty else {
                content += "<p><span class=\"soft\">\(typeText(schema, text))</span></p>\n</section>\n"
                continue
            }
            let required = schema["required"]?.array ?? []
            content += "<dl>\n"
            for member in members {
                let need = required.contains(.string(member.name)) ? " <span class=\"need\">required</span>" : ""
                content +=
                    "<dt><code>\(HTMLText.escaped(member.name))</code> <span class=\"sign\">\(typeText(member.value, text))</span>"
                    + "\(need)</dt>\n"
                let description = member.value["description"]?.string ?? types.target(of: member.value)?.schema["description"]?.string
                content += "<dd>\(text.description(description ?? ""))</dd>\n"
            }
            content += "</dl>\n</section>\n"
        }
        let side = "<h2>Types</h2>\n<ul>\n" + links(types.names.map { ("#" + $0, $0, false) }) + "</ul>\n"
        return frame("types.html", title: "Types", side: side, content)
    }

    private func typeText(_ schema: JSONValue, _ text: HTMLText) -> String {
        let isOwn = types.target(of: schema) == nil
        return text.type(types.text(of: schema, isShort: !isOwn), among: typeNames)
    }

    // MARK: Errors

    private var errorList: String {
        let text = HTMLText(root: "")
        var content =
            "<h1>Errors</h1>\n<p class=\"lead\">Every error has a number, a stable name, a message for humans, and data. Program against"
        content +=
            " the name and the data; the words of the message can change. The <a href=\"guides/errors.html\">guide about errors</a> "
        content += "explains what they have in common.</p>\n"
        for error in Contract.ErrorTable.all {
            let id = HTMLText.escaped(error.type)
            content += "<section class=\"entry\" id=\"\(id)\">\n<h2><code>\(id)</code></h2>\n<ul class=\"marks\"><li>\(error.code)</li>"
            if error.isRetryable { content += "<li class=\"public\">retry after retryAfterSeconds</li>" }
            if error.isStoreError { content += "<li>the store cannot be used</li>" }
            content += "</ul>\n<p>\(text.description(error.when))</p>\n"
            if let message = errors[error.type]?["message"]?.string {
                content += HTMLText.code(message, caption: "Message", isMessage: true)
            }
            let data = (errorData[error.type]?["properties"]?.object?.members ?? []).filter { $0.name != "type" }
            if !data.isEmpty {
                content += "<dl>\n"
                for member in data {
                    content +=
                        "<dt><code>\(HTMLText.escaped(member.name))</code> <span class=\"sign\">\(typeText(member.value, text))</span>"
                        + "</dt>\n"
                    let description = member.value["description"]?.string ?? types.target(of: member.value)?.schema["description"]?.string
                    content += "<dd>\(text.description(description ?? ""))</dd>\n"
                }
                content += "</dl>\n"
            }
            let methods = Contract.MethodTable.all.filter { $0.errors.contains(error.type) }.map { text.identifier($0.name) }
            if !methods.isEmpty { content += "<p class=\"soft\">Returned by \(methods.joined(separator: ", ")).</p>\n" }
            content += "</section>\n"
        }
        let side = "<h2>Errors</h2>\n<ul>\n" + links(Contract.ErrorTable.all.map { ("#" + $0.type, $0.type, false) }) + "</ul>\n"
        return frame("errors.html", title: "Errors", side: side, content)
    }

    // MARK: Commands

    private var commandList: String {
        let text = HTMLText(root: "")
        var content =
            "<h1>Commands and options</h1>\n<p class=\"lead\">Every option can also be given in the environment; the option takes"
        content += " precedence. The <a href=\"guides/exit-codes.html\">exit codes</a> have a guide.</p>\n"
        for command in commands.commands {
            let name = HTMLText.escaped(command.name)
            content +=
                "<section class=\"entry\" id=\"\(name)\">\n<h2><code>mintmark \(name)</code></h2>\n"
                + "<p>\(text.description(command.abstract))</p>\n"
            for paragraph in command.discussion.split(separator: "\n\n") {
                content +=
                    paragraph.contains("\n  ") || paragraph.hasPrefix("  ")
                    ? HTMLText.code(String(paragraph)) : "<p>\(text.description(String(paragraph).replacing("\n", with: " ")))</p>\n"
            }
            let own = commands.own(command)
            if !own.isEmpty { content += "<dl>\n" + own.map { item($0, isServe: command.name == "serve", text) }.joined() + "</dl>\n" }
            let shared = commands.shared(command).map { "<a href=\"#option-\($0.dropFirst(2))\"><code>\(HTMLText.escaped($0))</code></a>" }
            if !shared.isEmpty {
                content += "<p class=\"soft\">It also has these options of serve: \(shared.joined(separator: ", ")).</p>\n"
            }
            content += "</section>\n"
        }
        let side = "<h2>Commands</h2>\n<ul>\n" + links(commands.commands.map { ("#" + $0.name, $0.name, false) }) + "</ul>\n"
        return frame("commands.html", title: "Commands and options", side: side, content)
    }

    /// The options of `serve` have an anchor, the variable of the environment and the name in clients.
    private func item(_ option: CommandTable.Option, isServe: Bool, _ text: HTMLText) -> String {
        let known = isServe ? documentation.options.first { option.names.contains($0.flag) } : nil
        let anchor = known.map { " id=\"option-\(HTMLText.escaped(String($0.flag.dropFirst(2))))\"" } ?? anchor(option, isServe)
        let description = text.description(known?.description ?? option.description)
        let more = known.map {
            " <span class=\"soft\">In clients: <code>\($0.name)</code>. Variable: <code>\(ManPage.variable($0.flag))</code>.</span>"
        }
        return "<dt\(anchor)><code>\(HTMLText.escaped(option.usage))</code></dt>\n<dd>\(description)\(more ?? "")</dd>\n"
    }

    private func anchor(_ option: CommandTable.Option, _ isServe: Bool) -> String {
        guard isServe, let name = option.names.last, name.hasPrefix("--") else { return "" }
        return " id=\"option-\(HTMLText.escaped(String(name.dropFirst(2))))\""
    }

    // MARK: Search

    private var searchIndex: String {
        var entries = SearchEntry.all(documentation)
        entries += types.names.map { name in
            let members = (types.members(name) ?? []).map { "\($0.name) \($0.value["description"]?.string ?? "")" }.joined(separator: " ")
            let text = Markdown.withoutMarks((types.schema(name)?["description"]?.string ?? "") + " " + members)
            return SearchEntry(kind: .type, topic: name, title: name, place: "types.html#" + name, text: text)
        }
        entries += documentation.options.map {
            SearchEntry(
                kind: .option, topic: $0.flag, title: $0.flag, place: "commands.html#option-" + $0.flag.dropFirst(2),
                text: Markdown.withoutMarks($0.description) + " " + $0.name)
        }
        entries += terms.map {
            SearchEntry(kind: .term, topic: $0.term, title: $0.term, place: "glossary.html#" + $0.anchor, text: $0.definition)
        }
        let lines = entries.filter { !$0.place.hasPrefix("glossary.html") || $0.kind == .term }.map { entry in
            JSONValue.array([.string(entry.kind.rawValue), .string(entry.title), .string(entry.place), .string(entry.text)]).text
        }
        return "window.mintmarkIndex = [\n" + lines.joined(separator: ",\n") + "\n];\n"
    }
}

/// Writes JSON with short values in one line.
enum CompactJSON {
    static func text(_ value: JSONValue, indent: String = "") -> String {
        let flat = flat(value)
        if flat.count + indent.count <= 84 { return flat }
        let inner = indent + "  "
        switch value {
        case .object(let object) where !object.isEmpty:
            let members = object.members.map { "\(inner)\(JSONValue.string($0.name).text): \(text($0.value, indent: inner))" }
            return "{\n" + members.joined(separator: ",\n") + "\n\(indent)}"
        case .array(let elements) where !elements.isEmpty:
            return "[\n" + elements.map { inner + text($0, indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        default: return flat
        }
    }

    private static func flat(_ value: JSONValue) -> String {
        switch value {
        case .object(let object):
            "{" + object.members.map { "\(JSONValue.string($0.name).text): \(flat($0.value))" }.joined(separator: ", ") + "}"
        case .array(let elements): "[" + elements.map(flat).joined(separator: ", ") + "]"
        default: value.text
        }
    }
}
