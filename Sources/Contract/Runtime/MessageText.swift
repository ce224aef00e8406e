/// Formats members of an error's data for its message.
enum MessageText {
    static func of(_ text: String) -> String { text }

    /// Removes the final period of a text that is followed by the period of the message.
    static func beforeStop(_ text: String) -> String { text.hasSuffix(".") && !text.hasSuffix("..") ? String(text.dropLast()) : text }

    static func of(_ number: Int64) -> String { String(number) }
    static func of(_ flag: Bool) -> String { String(flag) }
    static func of(_ choice: some RawRepresentable<String>) -> String { choice.rawValue }
    static func of(_ list: [String]) -> String { list.isEmpty ? "none" : list.joined(separator: ", ") }

    static func of(_ failures: [PasswordFailure]) -> String { failures.map(\.message).joined(separator: " ") }

    /// Includes only the first violations; the error data lists all of them.
    static func of(_ violations: [Violation]) -> String {
        let shown = violations.prefix(3).map(\.message).joined(separator: " ")
        return violations.count > 3 ? "\(shown) And \(violations.count - 3) more: see data.violations." : shown
    }
}
