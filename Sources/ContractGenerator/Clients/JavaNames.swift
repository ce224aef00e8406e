/// Converts names of the contract to Java.
enum JavaNames {
    private static let keywords: Set<String> = [
        "abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue", "default", "do", "double",
        "else", "enum", "extends", "false", "final", "finally", "float", "for", "goto", "if", "implements", "import", "instanceof", "int",
        "interface", "long", "native", "new", "null", "package", "private", "protected", "public", "return", "short", "static", "strictfp",
        "super", "switch", "synchronized", "this", "throw", "throws", "transient", "true", "try", "void", "volatile", "while",
    ]

    /// The methods that all objects have.
    private static let taken: Set<String> = [
        "clone", "equals", "finalize", "getClass", "hashCode", "notify", "notifyAll", "toJson", "toString", "wait",
    ]

    /// The members that all errors have.
    private static let takenByErrors: Set<String> = ["code", "data", "method", "retryAfter", "trace", "type"]

    /// The classes that generated code uses inside another one.
    private static let takenTypes: Set<String> = [
        "ApiException", "Boolean", "Caller", "Consumer", "Instant", "Items", "JsonText", "List", "Long", "Map", "Object", "Optional",
        "OptionalLong", "Override", "Pages", "Params", "Read", "Result", "String",
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

    /// Converts `token.verify` to `TokenVerifyParams`.
    static func params(_ method: Method) -> String { SwiftNames.type(method.name) + "Params" }

    /// Converts `token.verify` to `TokenVerifyResult`, the name of a result that is defined inline.
    static func result(_ method: Method) -> String { SwiftNames.type(method.name) + "Result" }

    /// Returns a string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }
}
