/// The part of Markdown that the guides use: headings, paragraphs, lists, tables and fenced code.
struct Markdown {
    indirect enum Block {
        case heading(Int, [Inline])
        case paragraph([Inline])
        case list(isOrdered: Bool, items: [[Inline]])
        case table(header: [[Inline]], rows: [[[Inline]]])
        /// `file` is the name under which the reader saves the code.
        case code(language: String, file: String?, text: String)
    }

    indirect enum Inline {
        case text(String)
        case code(String)
        case strong([Inline])
        case emphasis([Inline])
        case link([Inline], target: String)
    }

    private(set) var blocks: [Block] = []
    private var lines: ArraySlice<Substring>

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        while let line = lines.first { read(line) }
    }

    /// The headings of the second level with their anchors.
    var sections: [(anchor: String, title: String)] {
        blocks.compactMap { block in
            guard case .heading(2, let title) = block else { return nil }
            return (Self.anchor(title), Self.plain(title))
        }
    }

    /// Returns the text without markup.
    static func plain(_ inlines: [Inline]) -> String {
        inlines.map { inline in
            switch inline {
            case .text(let text), .code(let text): text
            case .strong(let inner), .emphasis(let inner), .link(let inner, _): plain(inner)
            }
        }.joined()
    }

    /// Returns the text of a block without markup, in one line.
    static func plain(_ block: Block) -> String {
        switch block {
        case .heading(_, let text), .paragraph(let text): plain(text)
        case .list(_, let items): items.map(plain).joined(separator: " ")
        case .table(let header, let rows): ([header] + rows).map { $0.map(plain).joined(separator: " ") }.joined(separator: " ")
        case .code(_, _, let text): text.split { $0 == "\n" || $0 == " " }.joined(separator: " ")
        }
    }

    /// Returns a description of the contract without the marks around identifiers.
    static func withoutMarks(_ text: String) -> String { text.filter { $0 != "`" } }

    /// The targets of all links, in the order of the text.
    var links: [String] {
        blocks.flatMap { block -> [String] in
            switch block {
            case .heading(_, let text), .paragraph(let text): Self.links(in: text)
            case .list(_, let items): items.flatMap { Self.links(in: $0) }
            case .table(_, let rows): rows.flatMap { $0.flatMap { Self.links(in: $0) } }
            case .code: []
            }
        }
    }

    /// Returns the anchor of a heading: lowercase letters, digits and hyphens.
    static func anchor(_ title: [Inline]) -> String {
        let text = plain(title).lowercased()
        return String(
            text.compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? $0 : nil })
    }

    /// Returns the targets of all links.
    static func links(in inlines: [Inline]) -> [String] {
        inlines.flatMap { inline -> [String] in
            switch inline {
            case .text, .code: []
            case .strong(let inner), .emphasis(let inner): links(in: inner)
            case .link(_, let target): [target]
            }
        }
    }

    // MARK: Blocks

    private mutating func read(_ line: Substring) {
        if line.hasPrefix("```") { return readCode(line) }
        if line.hasPrefix("#") {
            let level = line.prefix { $0 == "#" }.count
            blocks.append(.heading(level, Self.inlines(line.dropFirst(level + 1))))
            lines.removeFirst()
        } else if line.hasPrefix("|") {
            readTable()
        } else if Self.item(line) != nil {
            readList()
        } else if line.allSatisfy({ $0 == " " }) || line.hasPrefix("<!--") && line.hasSuffix("-->") {
            lines.removeFirst()
        } else {
            readParagraph()
        }
    }

    private mutating func readCode(_ fence: Substring) {
        let words = fence.drop { $0 == "`" }.split(separator: " ")
        let file = words.first { $0.hasPrefix("file=") }.map { String($0.dropFirst(5)) }
        lines.removeFirst()
        let code = lines.prefix { !$0.hasPrefix("```") }
        lines = lines.dropFirst(code.count + 1)
        blocks.append(.code(language: String(words.first ?? ""), file: file, text: code.joined(separator: "\n")))
    }

    private mutating func readTable() {
        let all = lines.prefix { $0.hasPrefix("|") }
        lines = lines.dropFirst(all.count)
        let rows = all.map { Self.cells($0) }
        guard let header = rows.first else { return }
        blocks.append(.table(header: header, rows: rows.dropFirst(2).map { $0 }))
    }

    private static func cells(_ line: Substring) -> [[Inline]] {
        var cells: [String] = []
        var cell = ""
        var isEscaped = false
        for character in line.dropFirst() {
            if character == "|", !isEscaped {
                cells.append(cell)
                cell = ""
            } else {
                if character == "|" { cell.removeLast() }
                cell.append(character)
            }
            isEscaped = character == "\\"
        }
        return cells.map { inlines(trimmed($0)) }
    }

    private mutating func readList() {
        var items: [String] = []
        let isOrdered = lines.first?.first?.isNumber == true
        while let line = lines.first {
            if let item = Self.item(line) {
                items.append(String(item))
            } else if line.hasPrefix("  "), !items.isEmpty {
                items[items.count - 1] += " " + line.drop { $0 == " " }
            } else {
                break
            }
            lines.removeFirst()
        }
        blocks.append(.list(isOrdered: isOrdered, items: items.map { Self.inlines($0[...]) }))
    }

    /// Returns the text of a list item, or `nil` for another line.
    private static func item(_ line: Substring) -> Substring? {
        if line.hasPrefix("- ") { return line.dropFirst(2) }
        let rest = line.drop(while: \.isNumber)
        return rest.count < line.count && rest.hasPrefix(". ") ? rest.dropFirst(2) : nil
    }

    private mutating func readParagraph() {
        let all = lines.prefix { !$0.isEmpty && !$0.hasPrefix("```") && !$0.hasPrefix("|") && !$0.hasPrefix("#") && Self.item($0) == nil }
        lines = lines.dropFirst(all.count)
        let text = all.joined(separator: " ")
        // Marks for the tests of the documentation, which concern no reader.
        if text.hasPrefix("*Not run by the tests") { return }
        blocks.append(.paragraph(Self.inlines(text[...])))
    }

    // MARK: Inline text

    static func inlines(_ text: Substring) -> [Inline] {
        var found: [Inline] = []
        var plain = ""
        var rest = text
        func close() {
            if !plain.isEmpty { found.append(.text(plain)) }
            plain = ""
        }
        while let character = rest.first {
            if character == "`", let (inner, after) = enclosed(rest.dropFirst(), by: "`") {
                close()
                found.append(.code(String(inner)))
                rest = after
            } else if rest.hasPrefix("**"), let (inner, after) = enclosed(rest.dropFirst(2), by: "**") {
                close()
                found.append(.strong(inlines(inner)))
                rest = after
            } else if character == "*", rest.dropFirst().first?.isWhitespace == false,
                let (inner, after) = enclosed(rest.dropFirst(), by: "*"), inner.last?.isWhitespace == false
            {
                close()
                found.append(.emphasis(inlines(inner)))
                rest = after
            } else if character == "[", let (label, after) = enclosed(rest.dropFirst(), by: "]("),
                let (target, end) = enclosed(after, by: ")")
            {
                close()
                found.append(.link(inlines(label), target: String(target)))
                rest = end
            } else {
                plain.append(character)
                rest.removeFirst()
            }
        }
        close()
        return found
    }

    /// Returns the text before the next `mark`, and the text after it.
    private static func enclosed(_ text: Substring, by mark: String) -> (inner: Substring, after: Substring)? {
        guard let range = text.firstRange(of: mark), range.lowerBound > text.startIndex else { return nil }
        return (text[..<range.lowerBound], text[range.upperBound...])
    }

    private static func trimmed(_ text: String) -> Substring {
        var text = text[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
