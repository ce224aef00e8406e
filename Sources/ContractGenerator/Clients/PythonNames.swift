/// How names of the contract are written in Python.
enum PythonNames {
    private static let keywords: Set<String> = [
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
        "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try", "while",
        "with", "yield",
    ]

    /// Why a name is not free, beside the keywords: what else stands in the same scope.
    enum Scope: String {
        /// Parameters of a method, which are followed by `timeout` and `trace`, and what its body uses.
        case method = "timeout trace types cast params answer"
        /// Members of a record, beside those that all records have.
        case record = "of raw"
        /// Members of an error's data, beside those that all errors have.
        case error = "add_note args code data message trace type with_traceback"

        fileprivate var taken: [Substring] { rawValue.split(separator: " ") }
    }

    /// `mintForDeveloper` as `mint_for_developer`, `bodySha256` as `body_sha256`; what is taken gets an underscore at its end.
    static func member(_ name: String, in scope: Scope? = nil) -> String {
        let snake = snake(name)
        let isTaken = keywords.contains(snake) || (scope?.taken.contains { $0 == snake } ?? false)
        return isTaken ? snake + "_" : snake
    }

    /// `token.mintForDeveloper` as `TokenMintForDeveloper`.
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

    /// A string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }
}
