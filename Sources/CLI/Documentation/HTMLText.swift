import Contract
import JSON
import Platform

/// Renders Markdown and identifiers of the contract as HTML.
struct HTMLText {
    /// The path from the page to the root of the site: empty, or `../`.
    let root: String
    private static let methods = Set(Contract.MethodTable.all.map(\.name))
    private static let errors = Set(Contract.ErrorTable.all.map(\.type))

    static func escaped(_ text: String) -> String { Markup.escaped(text) }

    // MARK: Blocks

    func blocks(_ blocks: [Markdown.Block]) -> String { blocks.map(block).joined() }

    private func block(_ block: Markdown.Block) -> String {
        switch block {
        case .heading(let level, let title):
            return "<h\(level) id=\"\(Self.escaped(Markdown.anchor(title)))\">\(inline(title, links: false))</h\(level)>\n"
        case .paragraph(let text): return "<p>\(inline(text))</p>\n"
        case .list(let isOrdered, let items):
            let tag = isOrdered ? "ol" : "ul"
            return "<\(tag)>\n" + items.map { "<li>\(inline($0))</li>\n" }.joined() + "</\(tag)>\n"
        case .table(let header, let rows): return table(header, rows)
        case .code("mermaid", _, let text):
            guard let picture = DiagramPicture.svg(text) else { return Self.code(text, caption: "A diagram, in the language of Mermaid") }
            let source = "<details><summary>The diagram as text</summary>\n\(Self.code(text))</details>\n"
            return "<figure class=\"picture\"><div>\(picture)</div>\n\(source)</figure>\n"
        case .code(_, let file, let text):
            return Self.code(
                text, caption: file.map { "File \($0)" })
        }
    }

    /// Returns a block of code. Lines of a message are wrapped.
    static func code(_ text: String, caption: String? = nil, isMessage: Bool = false) -> String {
        let head = caption.map { "<figcaption>\(escaped($0))</figcaption>" } ?? ""
        return
            "<figure class=\"code\(isMessage ? " wrapped" : "")\">\(head)<pre tabindex=\"0\"><code>\(escaped(text))</code></pre></figure>\n"
    }

    private func table(_ header: [[Markdown.Inline]], _ rows: [[[Markdown.Inline]]]) -> String {
        let heads = header.map { "<th>\(inline($0))</th>" }.joined()
        let isWide = header.count > 2
        let body = rows.map { row in
            "<tr>"
                + row.enumerated().map { column, cell in
                    let head = isWide && column < header.count ? " data-head=\"\(Self.escaped(Markdown.plain(header[column])))\"" : ""
                    return "<td\(head)>\(inline(cell))</td>"
                }.joined() + "</tr>\n"
        }.joined()
        return
            "<div class=\"table\(header.count > 6 ? " many" : "")\"><table\(isWide ? " class=\"wide\"" : "")>\n<thead><tr>\(heads)</tr></thead>\n"
            + "<tbody>\n\(body)</tbody>\n</table></div>\n"
    }

    // MARK: Inline text

    /// - Parameter links: Whether the text may contain links. Headings and links contain none.
    func inline(_ inlines: [Markdown.Inline], links: Bool = true) -> String {
        inlines.map { part in
            switch part {
            case .text(let text): Self.escaped(text)
            case .code(let text): links ? identifier(text) : Self.code(inLine: text)
            case .strong(let inner): "<strong>\(inline(inner, links: links))</strong>"
            case .emphasis(let inner): "<em>\(inline(inner, links: links))</em>"
            case .link(let inner, let target): links ? link(inner, target) : inline(inner, links: false)
            }
        }.joined()
    }

    /// Returns code within a line. A line can end after the dot of a name, and does not end within an option.
    private static func code(inLine text: String) -> String {
        let isOption = text.hasPrefix("-") && text.count <= 32
        return "<code\(isOption ? " class=\"option\"" : "")>\(escaped(text).replacing(".", with: ".<wbr>"))</code>"
    }

    /// Returns a text of the command line, whose options become code.
    func commandText(_ text: String) -> String {
        Markdown.inlines(text[...]).map { part in
            guard case .text(let words) = part else { return inline([part]) }
            return words.split(separator: " ", omittingEmptySubsequences: false).map { word in
                guard word.hasPrefix("--"), word.count > 2 else { return Self.escaped(String(word)) }
                let end = word.lastIndex { !".,;:)".contains($0) }.map { word.index(after: $0) } ?? word.endIndex
                return Self.code(inLine: String(word[..<end])) + Self.escaped(String(word[end...]))
            }.joined(separator: " ")
        }.joined()
    }

    /// Returns a description of the contract, in which identifiers are in backticks.
    func description(_ text: String) -> String { inline(Markdown.inlines(text[...])) }

    /// Returns an identifier, as a link if it names a method or an error.
    func identifier(_ text: String) -> String {
        let code = Self.code(inLine: text)
        if Self.methods.contains(text) { return "<a href=\"\(root)\(Self.escaped(Site.page(ofMethod: text)))\">\(code)</a>" }
        if Self.errors.contains(text) { return "<a href=\"\(root)errors.html#\(Self.escaped(text))\">\(code)</a>" }
        return code
    }

    /// Returns the text of a type with links to the types of the contract.
    func type(_ text: String, among names: Set<String>) -> String {
        Markdown.inlines(text[...]).map { part in
            guard case .text(let text) = part else { return inline([part], links: false) }
            return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
                let name = Self.escaped(String(word))
                return names.contains(String(word)) ? "<a href=\"\(root)types.html#\(name)\">\(name)</a>" : name
            }.joined(separator: " ")
        }.joined()
    }

    /// Links of guides lead to other pages of the site. Files that the site does not contain are named.
    private func link(_ label: [Markdown.Inline], _ target: String) -> String {
        let text = inline(label, links: false)
        let file = String(target.prefix { $0 != "#" })
        let anchor = String(target.dropFirst(file.count))
        let page: String? =
            switch file {
            case "": ""
            case "../errors.json": "errors.html"
            case "../openrpc.json": "openrpc.json"
            default: file.hasSuffix(".md") && !file.contains("/") ? Site.page(ofGuide: String(file.dropLast(3))) : nil
            }
        if let page { return "<a href=\"\(page.isEmpty ? "" : root)\(Self.escaped(page + anchor))\">\(text)</a>" }
        let isAddress = target.hasPrefix("http://") || target.hasPrefix("https://")
        let name = isAddress ? target : String(target.split(separator: "/").drop { $0 == ".." }.joined(separator: "/"))
        return name == Markdown.plain(label) ? text : "\(text) (<code>\(Self.escaped(name))</code>)"
    }
}
