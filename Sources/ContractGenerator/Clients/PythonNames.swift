/// Converts names of the contract to Python.
enum PythonNames {
    private static let keywords: Set<String> = [
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
        "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try", "while",
        "with", "yield",
    ]

    /// A scope with reserved names in addition to the keywords.
    enum Scope: String {
        /// Parameters of a method. `timeout` and `trace` follow them, and the body uses further names.
        case method = "timeout trace types cast params answer"
        /// Members of a record; all records have these members.
        case record = "of raw"
        /// Members of an error's data; all errors have these members.
        case error = "add_note args code data message trace type with_traceback"

        fileprivate var taken: [Substring] { rawValue.split(separator: " ") }
    }

    /// Converts `mintForDeveloper` to `mint_for_developer`, and `bodySha256` to `body_sha256`. A reserved name gets a trailing underscore.
    static func member(_ name: String, in scope: Scope? = nil) -> String {
        let snake = snake(name)
        let isTaken = keywords.contains(snake) || (scope?.taken.contains { $0 == snake } ?? false)
        return isTaken ? snake + "_" : snake
    }

    /// Converts `token.mintForDeveloper` to `TokenMintForDeveloper`.
    static func type(_ name: String) -> String { SwiftNames.type(name) }

    private static func snake(_ name: String) -> String {
        var words = ""
        var previous: Character?
        for character in name {
            if character == "-" || character == "." {
                words.append("_")
            } else {
                if character.isUppercase, let previous, !previous.isUppercase, previous != "_" { words.append("_") }
                words.append(contentsOf: character.lowercased())
            }
            previous = character
        }
        return words
    }

    /// Returns a string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }
}
