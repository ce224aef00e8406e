import Glibc

/// Renders Markdown for a terminal, or as plain text.
struct TerminalText {
    /// The maximum length of a line of text.
    let width: Int
    private(set) var lines: [String] = []

    /// Text with the number of columns that it takes.
    private struct Word {
        var shown: String
        var columns: Int
    }

    /// The width of the terminal, at least 40 and at most 100 columns. 80 for output that is not a terminal.
    static var usualWidth: Int {
        var size = winsize()
        guard isatty(1) == 1, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return min(max(Int(size.ws_col), 40), 100)
    }

    init(_ markdown: Markdown, width: Int = usualWidth) {
        self.width = width
        for block in markdown.blocks { add(block) }
        while lines.last == "" { lines.removeLast() }
    }

    private mutating func add(_ block: Markdown.Block) {
        switch block {
        case .heading(let level, let title):
            let text = Markdown.plain(title)
            if level > 1, lines.last != "" { lines.append("") }
            lines.append(Printing.bold(text))
            if level == 1 { lines.append(Printing.bold(String(repeating: "=", count: text.count))) }
        case .paragraph(let text): lines += Self.wrapped(Self.words(text), width)
        case .list(let isOrdered, let items):
            for (number, item) in items.enumerated() {
                let sign = isOrdered ? "\(number + 1). " : "- "
                let margin = String(repeating: " ", count: sign.count)
                for (place, line) in Self.wrapped(Self.words(item), width - sign.count).enumerated() {
                    lines.append((place == 0 ? sign : margin) + line)
                }
            }
        case .table(let header, let rows): add(header, rows)
        case .code(let language, let file, let text):
            if let file { lines.append(Printing.dim("    # \(file)")) }
            if language == "mermaid" { lines.append(Printing.dim("    # a diagram in the language of Mermaid")) }
            lines += text.split(separator: "\n", omittingEmptySubsequences: false).map {
                $0.isEmpty ? "" : "    " + Printing.cyan(String($0))
            }
        }
        lines.append("")
    }

    // MARK: Tables

    private mutating func add(_ header: [[Markdown.Inline]], _ rows: [[[Markdown.Inline]]]) {
        let cells = ([header] + rows).map { row in row.map { Self.words($0) } }
        let columns = header.indices
        let natural = columns.map { column in cells.map { $0.indices.contains(column) ? Self.columns(of: $0[column]) : 0 }.max() ?? 0 }
        let longest = columns.map { column in
            cells.map { $0.indices.contains(column) ? $0[column].map(\.columns).max() ?? 0 : 0 }.max() ?? 0
        }
        guard let widths = Self.shared(natural, least: longest, room: width - 2 * (columns.count - 1)) else {
            return addStacked(header, rows)
        }
        for (number, row) in cells.enumerated() {
            let parts = columns.map { $0 < row.count ? Self.lines(of: row[$0], widths[$0]) : [] }
            for line in 0..<max(parts.map(\.count).max() ?? 0, 1) {
                var text = ""
                for column in columns {
                    let part = line < parts[column].count ? parts[column][line] : Word(shown: "", columns: 0)
                    text += number == 0 && !part.shown.isEmpty ? Printing.bold(part.shown) : part.shown
                    if column + 1 < columns.count { text += String(repeating: " ", count: widths[column] - part.columns + 2) }
                }
                while text.last == " " { text.removeLast() }
                lines.append(text)
            }
            if number == 0 { lines.append(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  ")) }
        }
    }

    /// Prints each row as lines with the heads of the columns, for a terminal that is too narrow for the columns.
    private mutating func addStacked(_ header: [[Markdown.Inline]], _ rows: [[[Markdown.Inline]]]) {
        for (number, row) in rows.enumerated() {
            if number > 0 { lines.append("") }
            for (head, cell) in zip(header, row) where !cell.isEmpty {
                let name = Self.words(head).map { Word(shown: Printing.bold($0.shown), columns: $0.columns) }
                let colon = name.isEmpty ? [] : [Word(shown: name.last!.shown + ":", columns: name.last!.columns + 1)]
                lines += Self.wrapped(name.dropLast() + colon + Self.words(cell), width)
            }
        }
    }

    /// Returns the widths of columns that fit into the room, or `nil` if a column would be narrower than its longest word or than 14.
    private static func shared(_ natural: [Int], least: [Int], room: Int) -> [Int]? {
        var widths = natural
        while widths.reduce(0, +) > room {
            let wide = widths.indices.filter { widths[$0] > max(least[$0], 14) }
            guard let widest = wide.max(by: { widths[$0] < widths[$1] }) else { return nil }
            widths[widest] -= 1
        }
        return widths
    }

    // MARK: Words

    private static func words(_ inlines: [Markdown.Inline]) -> [Word] {
        var words: [Word] = []
        var isOpen = false
        func add(_ text: String, _ paint: (String) -> String) {
            for (number, part) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
                if number > 0 { isOpen = false }
                if part.isEmpty { continue }
                let shown = paint(String(part))
                if isOpen {
                    words[words.count - 1].shown += shown
                    words[words.count - 1].columns += part.count
                } else {
                    words.append(Word(shown: shown, columns: part.count))
                }
                isOpen = true
            }
        }
        func walk(_ inlines: [Markdown.Inline], _ paint: (String) -> String) {
            for inline in inlines {
                switch inline {
                case .text(let text): add(text, paint)
                case .code(let text): add(text) { Printing.cyan($0) }
                case .strong(let inner), .emphasis(let inner): walk(inner) { Printing.bold($0) }
                case .link(let inner, _): walk(inner, paint)
                }
            }
        }
        walk(inlines) { $0 }
        return words
    }

    private static func columns(of words: [Word]) -> Int { words.reduce(0) { $0 + $1.columns } + max(words.count - 1, 0) }

    private static func wrapped(_ words: [Word], _ width: Int) -> [String] { lines(of: words, width).map(\.shown) }

    /// Breaks words into lines. A longer word has a line of its own.
    private static func lines(of words: [Word], _ width: Int) -> [Word] {
        var lines: [Word] = []
        for word in words {
            if let last = lines.last, last.columns + 1 + word.columns <= width {
                lines[lines.count - 1] = Word(shown: last.shown + " " + word.shown, columns: last.columns + 1 + word.columns)
            } else {
                lines.append(word)
            }
        }
        return lines
    }
}
