import Contract

/// A text with places to fill in: `Your code is {{code}}.` Single braces are ordinary characters; blanks inside double ones are allowed.
struct TemplateText: Hashable, Sendable {
    private enum Piece: Hashable, Sendable {
        case literal(String)
        case placeholder(Placeholder)
    }

    private var pieces: [Piece] = []

    /// Reads a text. What cannot be read is left out and told in `problems`.
    init(_ source: String, for purpose: MessagePurpose, problems: inout [TemplateRefusal.Problem]) {
        // By scalars: to Swift a brace with a combining mark is not a brace.
        let scalars = Array(source.unicodeScalars)
        var literal = String.UnicodeScalarView()
        var position = 0
        while position < scalars.count {
            guard scalars[position...].starts(with: "{{".unicodeScalars) else {
                literal.append(scalars[position])
                position += 1
                continue
            }
            guard let end = Self.end(of: scalars, from: position + 2) else {
                problems.append(.unclosed(offset: position))
                break
            }
            var name = String.UnicodeScalarView()
            name.append(contentsOf: scalars[(position + 2)..<end].filter { $0 != " " })
            let allowed = purpose.placeholders
            if let placeholder = Placeholder(rawValue: String(name)), allowed.contains(placeholder) {
                pieces += [.literal(String(literal)), .placeholder(placeholder)]
                literal = String.UnicodeScalarView()
            } else {
                let names = allowed.map(\.rawValue)
                problems.append(.unknown(name: String(name), nearest: NearestNames.of(String(name), among: names), allowed: names))
            }
            position = end + 2
        }
        pieces.append(.literal(String(literal)))
    }

    /// Where the braces close that were opened before `start`: on the same line, before others are opened.
    private static func end(of scalars: [Unicode.Scalar], from start: Int) -> Int? {
        var position = start
        while position + 1 < scalars.count, position - start <= 64, !["\n", "\r", "{"].contains(scalars[position]) {
            if scalars[position] == "}", scalars[position + 1] == "}" { return position }
            position += 1
        }
        return nil
    }

    func contains(_ placeholder: Placeholder) -> Bool { pieces.contains(.placeholder(placeholder)) }

    /// The text with its places filled in. A value stays within its line, whatever it holds.
    func filled(with values: MessageValues, escape: (String) -> String = { $0 }) -> String {
        pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .placeholder(let placeholder): escape(Self.inOneLine(values[placeholder]))
            }
        }.joined()
    }

    private static func inOneLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { line.append(breaksLine(scalar) ? " " : scalar) }
        return String(line)
    }

    /// Line ends of every kind, and all other control characters.
    static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
    }
}
