/// Converts names of the contract to Python.
enum PythonNames {
    private static let keywords: Set<String> = [
        "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for",
        "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try", "while",
        "with", "yield",
    ]

    /// A scope with reserved names in addition to the keywords.
    enum Scope: String {
        /// Parameters of a method. `timeout`, `trace` and `progress` follow them.
        case method = "timeout trace progress types"
        /// Members of a record: names that all records have or that their declarations use.
        case record = "from_dict to_dict member utc list_of map_of other union"
        /// Members of an error's data; all errors have these members.
        case error = "add_note args code data list_of map_of message trace type utc with_traceback"

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

    /// Converts `SignUpStep` to `read_sign_up_step`, the name of the function that reads a union.
    static func reader(_ union: String) -> String {
        let name = snake(union)
        return "read_" + (name.hasPrefix("_") ? String(name.dropFirst()) : name)
    }

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
