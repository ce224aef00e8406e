import Contract
import JSON
import Mintmark

/// The documentation as a static site. All links are relative, and nothing is loaded from elsewhere.
struct Site {
    let documentation = Documentation()
    let commands: CommandTable
    let types = TypeDescriptions()
    let errors = Documentation.errors
    let errorData = OpenRPCDocument.errorDataSchemas
    let typeNames: Set<String>

    init(commands: CommandTable) {
        self.commands = commands
        typeNames = Set(types.names)
    }

    /// A method with the part of its name before the dot.
    static let namespaces: [(name: String, methods: [MethodInfo])] = {
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

    static let places = [
        ("guides/index.html", "Guides"), ("methods/index.html", "Methods"), ("types.html", "Types"), ("errors.html", "Errors"),
        ("commands.html", "Commands"), ("glossary.html", "Glossary"),
    ]

    /// Returns a complete page.
    ///
    /// - Parameters:
    ///   - path: The path of the page in the site.
    ///   - side: The list at the side of the page.
    func frame(_ path: String, title: String, side: String, _ content: String) -> String {
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

    func links(_ entries: [(href: String, title: String, isHere: Bool)]) -> String {
        entries.map { entry in
            let here = entry.isHere ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(HTMLText.escaped(entry.href))\"\(here)>\(HTMLText.escaped(entry.title))</a></li>\n"
        }.joined()
    }

    func guideSide(_ root: String, current: String?, sections: [(anchor: String, title: String)] = []) -> String {
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

    func methodSide(_ root: String, current: MethodInfo?) -> String {
        let namespace = current.map { $0.name.prefix { $0 != "." } }
        let items = Self.namespaces.map { group in
            let isOpen = group.name == namespace.map(String.init)
            var item = links([("\(root)methods/index.html#\(group.name)", group.name, false)])
            if isOpen {
                item.removeLast("</li>\n".count)
                let methods = group.methods.map {
                    (root + Self.page(ofMethod: $0.name), String($0.name.dropFirst(group.name.count + 1)), $0.name == current?.name)
                }
                item += "\n<ul>\n" + links(methods) + "</ul></li>\n"
            }
            return item
        }.joined()
        return "<h2>Methods</h2>\n<ul>\n\(items)</ul>\n"
    }

    // MARK: Start

    var index: String {
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
    var tasks: [(task: [Markdown.Inline], guides: [Documentation.Guide])] {
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

    func page(of guide: Documentation.Guide) -> String {
        let markdown = Markdown(guide.text)
        let text = HTMLText(root: "../")
        var content = ""
        // The calls in other languages follow the output of a script.
        var languages = ""
        for block in markdown.blocks {
            if case .code(let language, nil, _) = block, ["text", "json"].contains(language) {
            } else {
                content += languages
                languages = ""
            }
            content += text.blocks([block])
            if case .code("sh", _, let script) = block { languages = otherLanguages(script) }
        }
        content += languages
        let side = guideSide("../", current: guide.name, sections: markdown.sections)
        return frame(Self.page(ofGuide: guide.name), title: guide.title, side: side, content)
    }

    var glossary: String {
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

    var terms: [(term: String, anchor: String, definition: String)] {
        let guide = documentation.guides.first { $0.name == "glossary" }
        return Markdown(guide?.text ?? "").blocks.flatMap { block -> [(term: String, anchor: String, definition: String)] in
            guard case .table(_, let rows) = block else { return [] }
            return rows.filter { $0.count == 2 }.map { (Markdown.plain($0[0]), Markdown.anchor($0[0]), Markdown.plain($0[1])) }
        }
    }

    // MARK: Search

    var searchIndex: String {
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
