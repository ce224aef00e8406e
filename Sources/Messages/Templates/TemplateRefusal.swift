/// Why a template cannot be used: everything that is wrong with it.
public struct TemplateRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// A part of a message, named as in its template.
    public enum Part: String, Hashable, Sendable { case subject, text, html }

    public enum Problem: Hashable, Sendable {
        /// `{{name}}` that nothing is known for; `nearest` are those it may have meant, `allowed` are all.
        case unknown(name: String, nearest: [String], allowed: [String])
        /// `{{` without `}}` on the same line, after `offset` characters of Unicode.
        case unclosed(offset: Int)
        /// The message would be useless without it.
        case missing(Placeholder)
        case empty
        /// More characters of Unicode than this.
        case tooLong(maximum: Int)
        /// The subject has a line end or another control character.
        case controlCharacter
    }

    public let violations: [Violation]

    /// One problem, and where it is.
    public struct Violation: Hashable, Sendable, CustomStringConvertible {
        public let part: Part
        public let problem: Problem

        public var description: String { "\(part.rawValue): \(sentence)" }

        /// Without the part.
        fileprivate var sentence: String {
            switch problem {
            case .unknown(let name, let nearest, let allowed):
                "{{\(name)}} is not a known placeholder "
                    + (nearest.isEmpty
                        ? "(allowed are \(allowed.map { "{{\($0)}}" }.joined(separator: ", ")))."
                        : "(did you mean \(nearest.map { "{{\($0)}}" }.joined(separator: " or "))?).")
            case .unclosed(let offset): "the {{ at character \(offset) has no }} in the same line."
            case .missing(let placeholder): "{{\(placeholder.rawValue)}} is missing."
            case .empty: "it is empty."
            case .tooLong(let maximum): "it is longer than \(maximum) characters."
            case .controlCharacter: "it contains a line end or another control character."
            }
        }
    }

    public var description: String { violations.map(\.description).joined(separator: " ") }

    /// The same for whoever knows that it is about `part`: only another one is named.
    public func description(at part: Part) -> String {
        violations.map { $0.part == part ? $0.sentence : $0.description }.joined(separator: " ")
    }
}
