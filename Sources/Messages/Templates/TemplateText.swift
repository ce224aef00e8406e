import Contract
import Platform

/// A text with placeholders: `Your code is {{code}}.` Single braces are ordinary characters. Spaces inside double braces are allowed.
struct TemplateText: Hashable, Sendable {
    private enum Piece: Hashable, Sendable {
        case literal(String)
        case placeholder(Placeholder)
    }

    private var pieces: [Piece] = []

    /// Parses a text. Adds the parts that are not valid to `problems` and omits them.
    init(_ source: String, for purpose: MessagePurpose, problems: inout [TemplateRefusal.Problem]) {
        // Compares Unicode scalars: a brace with a combining mark is a different `Character`.
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

    /// Returns the position of the closing braces for the braces that end before `start`: in the same line, and before any other opening
    /// brace.
    private static func end(of scalars: [Unicode.Scalar], from start: Int) -> Int? {
        var position = start
        while position + 1 < scalars.count, position - start <= 64, !["\n", "\r", "{"].contains(scalars[position]) {
            if scalars[position] == "}", scalars[position + 1] == "}" { return position }
            position += 1
        }
        return nil
    }

    func contains(_ placeholder: Placeholder) -> Bool { pieces.contains(.placeholder(placeholder)) }

    /// Returns the text with its placeholders replaced. Values never add a line break, whatever they contain.
    func filled(with values: MessageValues, escape: (String) -> String = { $0 }) -> String {
        pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .placeholder(let placeholder): escape(Self.inOneLine(values[placeholder]))
            }
        }.joined()
    }

    private static func inOneLine(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { line.append(breaksLine(scalar) ? " " : scalar) }
        return String(line)
    }

    /// Returns whether the scalar is a line break of any kind or another control character.
    static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
    }
}
