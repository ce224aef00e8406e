/// The reason a template is not valid, with all of its problems.
public struct TemplateRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// A part of a message, named as in its template.
    public enum Part: String, Hashable, Sendable { case subject, text, html }

    public enum Problem: Hashable, Sendable {
        /// An unknown placeholder `{{name}}`. `nearest` are similar names, `allowed` are all allowed names.
        case unknown(name: String, nearest: [String], allowed: [String])
        /// `{{` without `}}` in the same line, after `offset` Unicode scalars.
        case unclosed(offset: Int)
        /// A required placeholder is missing.
        case missing(Placeholder)
        case empty
        /// The text has more Unicode scalars than this.
        case tooLong(maximum: Int)
        /// The subject contains a line break or another control character.
        case controlCharacter
    }

    public let violations: [Violation]

    /// One problem and its part.
    public struct Violation: Hashable, Sendable, CustomStringConvertible {
        public let part: Part
        public let problem: Problem

        public var description: String { "\(part.rawValue): \(sentence)" }

        /// The description without the part.
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

    /// Returns the description for a context that already names `part`: only other parts are named.
    public func description(at part: Part) -> String {
        violations.map { $0.part == part ? $0.sentence : $0.description }.joined(separator: " ")
    }
}
