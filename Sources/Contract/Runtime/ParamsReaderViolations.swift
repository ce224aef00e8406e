import JSON
import Platform

/// Builds the messages of violations.
extension ParamsReader {
    func pointer(_ step: Step? = nil) -> String {
        (path + (step.map { [$0] } ?? [])).map { "/" + JSONPointer.escaped($0.text) }.joined()
    }

    /// The place of a violation in the text, which determines the order of the violations.
    struct Place: Comparable {
        var offset: Int
        /// The violations at the end of an object follow those of its members.
        var rank = Rank.value

        enum Rank: Int { case value, choice, missing }

        static func < (a: Place, b: Place) -> Bool { (a.offset, a.rank.rawValue) < (b.offset, b.rank.rawValue) }
    }

    /// The violations in the order of the text.
    @usableFromInline
    var violations: [Violation] {
        // The sort is stable.
        found.sorted { $0.place < $1.place }.map(\.violation)
    }

    mutating func add(pointer: String, rule: String, _ message: String) {
        isFine = false
        guard isTracing, found.count < Self.mostViolations else { return }
        if found.count == Self.mostViolations - 1 {
            found.append(
                (
                    Place(offset: .max),
                    Violation(pointer: "", rule: "tooManyViolations", message: "There are more violations; only the first ones are listed.")
                ))
        } else {
            found.append((place, Violation(pointer: pointer, rule: rule, message: message)))
        }
    }

    /// Adds a violation. `message` continues the sentence after the name of the member.
    mutating func add(_ step: Step, rule: String, _ message: @autoclosure () -> String) {
        isFine = false
        guard isTracing, found.count < Self.mostViolations else { return }
        let subject: String
        switch (step, path.last) {
        case (.index(let index), let last?): subject = "element \(index) of \(Self.shown(last.text))"
        default: subject = step.text.isEmpty ? "The empty string" : Self.shown(step.text)
        }
        add(pointer: pointer(step), rule: rule, "\(subject) \(message())")
    }

    /// Advice for `null` values, which does not apply to required members.
    private static let leaveOut = ": omit it instead"

    /// Removes the advice to omit a member that is required.
    mutating func cannotBeLeftOut(_ step: Step) {
        guard let last = found.indices.last, found[last].violation.pointer == pointer(step) else { return }
        found[last].violation.message = found[last].violation.message.replacing(Self.leaveOut, with: "")
    }

    mutating func wrongType(_ node: JSONNode, at step: Step, expected: String) {
        let found =
            switch node.kind {
            case .null: "null\(Self.leaveOut)"
            case .bool: "true or false"
            case .number: "a number"
            case .string: "a string"
            case .array: "an array"
            case .object: "an object"
            }
        add(step, rule: "type", "must be \(expected); it is \(found).")
    }

    mutating func add(_ step: Step, _ breach: StringRule.Breach, of rule: StringRule, _ text: String, isName: Bool = false) {
        isFine = false
        guard isTracing else { return }
        let what = isName ? "is a name that " : ""
        let value = isName || rule.isSecret ? "" : "; it is \(Self.quoted(text))"
        let suffix = isName ? "propertyNames" : nil
        switch breach {
        case .noNulCharacter: add(step, rule: "noNulCharacter", "\(what)must not contain the character U+0000.")
        case .minLength:
            let least = rule.length.lowerBound
            add(
                step, rule: suffix ?? "minLength",
                text.isEmpty && least == 1 ? "\(what)must not be empty." : "\(what)must have at least \(least) characters\(value).")
        case .maxLength:
            let count = text.unicodeScalars.count
            add(step, rule: suffix ?? "maxLength", "\(what)must have at most \(rule.length.upperBound) characters; it has \(count).")
        case .pattern:
            let pattern = rule.pattern!
            let hint = rule.isSecret ? "" : NearestNames.hint(text, among: pattern.names)
            add(step, rule: suffix ?? "pattern", "\(what)must be \(pattern.description)\(value).\(hint)")
        }
    }

    static func quoted(_ text: String) -> String { JSONValue.string(shown(text)).text }

    /// Returns a prefix of `text` that is long enough to recognize it.
    static func shown(_ text: String) -> String {
        text.unicodeScalars.count <= 64 ? text : String(text.unicodeScalars.prefix(60)) + "…"
    }
}
