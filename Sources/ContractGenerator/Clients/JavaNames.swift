/// How names of the contract are written in Java.
enum JavaNames {
    private static let keywords: Set<String> = [
        "abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue", "default", "do", "double",
        "else", "enum", "extends", "false", "final", "finally", "float", "for", "goto", "if", "implements", "import", "instanceof", "int",
        "interface", "long", "native", "new", "null", "package", "private", "protected", "public", "return", "short", "static", "strictfp",
        "super", "switch", "synchronized", "this", "throw", "throws", "transient", "true", "try", "void", "volatile", "while",
    ]

    /// What objects, records and their builders have themselves.
    private static let taken: Set<String> = [
        "build", "builder", "clone", "equals", "finalize", "getClass", "hashCode", "notify", "notifyAll", "toBuilder", "toJson", "toString",
        "unknown", "wait",
    ]

    /// What every answered error has.
    private static let takenByErrors: Set<String> = ["answer", "call", "code", "data", "retryAfter", "trace", "type"]

    /// What generated code names inside a record.
    private static let takenTypes: Set<String> = [
        "Boolean", "Builder", "Consumer", "Instant", "List", "Long", "Map", "JsonRecord", "JsonText", "Members", "Object", "Override",
        "Read", "Records",
        "Sink", "String", "Types",
    ]

    /// `account.import` has the verb `import_`; `jwks_uri` is `jwksUri`. What is taken gets an underscore at its end.
    static func member(_ name: String) -> String {
        let plain = SwiftNames.plainMember(name)
        return keywords.contains(plain) || taken.contains(plain) ? plain + "_" : plain
    }

    /// A member of an error's data.
    static func errorMember(_ name: String) -> String {
        let member = member(name)
        return takenByErrors.contains(member) ? member + "_" : member
    }

    /// `poolNotFound` as `PoolNotFoundException`.
    static func error(_ type: String) -> String { SwiftNames.type(type) + "Exception" }

    /// What is described inside an object, by the member it is described for; `within` are the types around it.
    static func nested(_ name: String, within: [String]) -> String {
        let type = SwiftNames.type(name)
        return within.contains(type) || takenTypes.contains(type) ? type + "Value" : type
    }

    /// `tokenRequired` as `TOKEN_REQUIRED`, `accounts.google.com` as `ACCOUNTS_GOOGLE_COM`.
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

    /// A string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }
}
