/// Converts names of the contract to Go.
enum GoNames {
    private static let initialisms: Set<String> = [
        "api", "arn", "ca", "db", "html", "http", "https", "id", "idp", "ip", "json", "jwk", "jwks", "jwt", "mfa", "otp", "qr", "rpc",
        "sms",
        "smtp", "sql", "tls", "totp", "uri", "url",
    ]

    /// Converts `token.mintForDeveloper` to `TokenMintForDeveloper`, `poolId` to `PoolID`, and `jwks_uri` to `JWKSURI`.
    static func exported(_ name: String) -> String { words(name).map(capitalized).joined() }

    /// Converts `poolNotFound` to `PoolNotFoundError`.
    static func error(_ type: String) -> String { exported(type) + (type.hasSuffix("Error") ? "" : "Error") }

    /// Returns the exported name of an error member. Differs from the methods and fields that all errors have.
    static func errorMember(_ name: String) -> String {
        let name = exported(name)
        let taken = ["As", "Call", "Code", "Data", "Error", "Is", "Message", "RetryAfter", "Trace", "Type", "Unwrap"]
        return taken.contains(name) ? name + "Value" : name
    }

    /// Returns a string literal.
    static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }

    private static func capitalized(_ word: String) -> String {
        let small = word.lowercased()
        if initialisms.contains(small) { return small.uppercased() }
        if small.hasSuffix("s"), initialisms.contains(String(small.dropLast())) { return small.dropLast().uppercased() + "s" }
        return word.prefix(1).uppercased() + word.dropFirst()
    }

    /// Splits a name into words. A word begins after a character that is not a letter or digit, and at a capital after a lowercase letter.
    private static func words(_ name: String) -> [String] {
        var words: [String] = [""]
        var previous: Character = " "
        for character in name {
            let isPart = character.isASCII && (character.isLetter || character.isNumber)
            if !isPart || (character.isUppercase && !previous.isUppercase) { words.append("") }
            if isPart { words[words.count - 1].append(character) }
            previous = character
        }
        return words.filter { !$0.isEmpty }
    }
}
