/// Converts texts of the contract to Javadoc.
enum JavaDocs {
    /// Escapes a text for Javadoc, where HTML markup, braces, tags that begin with `@`, and `\u` have special meanings. Identifiers in
    /// backticks become `<code>` elements.
    static func html(_ text: String) -> String {
        let entities = [
            ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("@", "&#64;"), ("\\", "&#92;"), ("*/", "*&#47;"), ("{", "&#123;"),
            ("}", "&#125;"),
        ]
        let html = entities.reduce(text.replacing("\n", with: " ")) { $0.replacing($1.0, with: $1.1) }
        let parts = html.split(separator: "`", omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { return html }
        return parts.enumerated().map { $0.isMultiple(of: 2) ? String($1) : "<code>\($1)</code>" }.joined()
    }

    /// Converts `The ID of the pool. It is stable.` to `{@return the ID of the pool} It is stable.`
    static func getter(_ description: String) -> String {
        let (first, rest) = sentences(description)
        return "{@return \(html(lowered(first)))}" + (rest.isEmpty ? "" : " " + html(rest))
    }

    /// Converts `Create an identity pool.` to `Creates an identity pool.`
    static func method(_ summary: String) -> String {
        let text = GoDocs.verb("", summary).drop { $0 == " " }
        return html(text.prefix(1).uppercased() + text.dropFirst())
    }

    /// Converts names in other products to a sentence.
    static func equivalents(_ names: [(vendor: String, name: String)]) -> String {
        names.isEmpty ? "" : html("Equivalent: " + names.map { "\($0.vendor) \($0.name)" }.joined(separator: "; ") + ".")
    }

    /// Returns the first sentence without its period, and the rest.
    private static func sentences(_ text: String) -> (first: String, rest: String) {
        var end = text.endIndex
        var from = text.startIndex
        while let found = text[from...].range(of: ". ") {
            let next = text[found.upperBound...].first
            if next?.isUppercase == true || next == "`" {
                end = found.lowerBound
                break
            }
            from = found.upperBound
        }
        let first = text[..<end]
        let rest = end < text.endIndex ? text[text.index(end, offsetBy: 2)...] : ""
        return (String(first.hasSuffix(".") ? first.dropLast() : first), String(rest))
    }

    private static func lowered(_ text: String) -> String {
        guard let second = text.dropFirst().first, second.isLowercase || second == " " else { return text }
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
