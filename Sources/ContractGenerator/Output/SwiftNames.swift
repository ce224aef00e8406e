/// Converts names of the contract to Swift.
enum SwiftNames {
    private static let keywords: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum",
        "extension",
        "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let",
        "nil",
        "operator", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Converts `token.mintForDeveloper` to `TokenMintForDeveloper`, and `jwks_uri` to `JwksUri`.
    static func type(_ name: String) -> String {
        name.split { $0 == "." || $0 == "_" || $0 == "-" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Returns the name of a property, case or parameter: `jwksUri` for `jwks_uri`.
    static func member(_ name: String) -> String { escaped(plainMember(name)) }

    /// Returns the same name without backticks, for use in a longer name.
    static func plainMember(_ name: String) -> String {
        guard name.contains("_") || name.contains("-") || name.contains(".") else { return name }
        let type = type(name)
        return type.prefix(1).lowercased() + type.dropFirst()
    }

    /// Converts `PoolId` to `poolId`.
    static func lowered(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

    private static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Returns a string literal.
    static func literal(_ text: String) -> String {
        if !text.contains(where: { $0 == "\"" || $0 == "\\" }), !text.unicodeScalars.contains(where: { $0.value < 32 }) {
            return "\"\(text)\""
        }
        return "##\"\(text)\"##"
    }
}
