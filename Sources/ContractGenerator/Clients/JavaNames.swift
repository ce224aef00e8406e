/// Converts names of the contract to Java.
enum JavaNames {
    private static let keywords: Set<String> = [
        "abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue", "default", "do", "double",
        "else", "enum", "extends", "false", "final", "finally", "float", "for", "goto", "if", "implements", "import", "instanceof", "int",
        "interface", "long", "native", "new", "null", "package", "private", "protected", "public", "return", "short", "static", "strictfp",
        "super", "switch", "synchronized", "this", "throw", "throws", "transient", "true", "try", "void", "volatile", "while",
    ]

    /// The methods that objects, records and their builders already have.
    private static let taken: Set<String> = [
        "build", "builder", "clone", "equals", "finalize", "getClass", "hashCode", "notify", "notifyAll", "toBuilder", "toJson", "toString",
        "unknown", "wait",
    ]

    /// The members that all error responses have.
    private static let takenByErrors: Set<String> = ["answer", "call", "code", "data", "retryAfter", "trace", "type"]

    /// The types that generated code uses inside a record.
    private static let takenTypes: Set<String> = [
        "Boolean", "Builder", "Consumer", "Instant", "List", "Long", "Map", "JsonRecord", "JsonText", "Members", "Object", "Override",
        "Read", "Records",
        "Sink", "String", "Types",
    ]

    /// Converts `account.import` to the verb `import_`, and `jwks_uri` to `jwksUri`. A reserved name gets a trailing underscore.
    static func member(_ name: String) -> String {
        let plain = SwiftNames.plainMember(name)
        return keywords.contains(plain) || taken.contains(plain) ? plain + "_" : plain
    }

    /// Returns the name of a member of an error's data.
    static func errorMember(_ name: String) -> String {
        let member = member(name)
        return takenByErrors.contains(member) ? member + "_" : member
    }

    /// Converts `poolNotFound` to `PoolNotFoundException`.
    static func error(_ type: String) -> String { SwiftNames.type(type) + "Exception" }

    /// Returns the name of a type that is defined inline, derived from its member. `within` contains the enclosing types.
    static func nested(_ name: String, within: [String]) -> String {
        let type = SwiftNames.type(name)
        return within.contains(type) || takenTypes.contains(type) ? type + "Value" : type
    }

    /// Converts `tokenRequired` to `TOKEN_REQUIRED`, and `accounts.google.com` to `ACCOUNTS_GOOGLE_COM`.
    static func constant(_ value: String) -> String {
        var words = ""
        var previous: Character = "_"
        for character in value {
            let isPart = character.isASCII && (character.isLetter || character.isNumber)
            if character.isUppercase && previous.isLowercase { words.append("_") }
            words.append(isPart ? Character(character.uppercased()) : "_")
            previous = character
        }
        return words.first?.isNumber == false ? words : "_" + words
    }

    /// Returns a string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }
}
