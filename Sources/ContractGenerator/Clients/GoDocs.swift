/// Converts texts of the contract to Go doc comments, which begin with the name of the declaration.
enum GoDocs {
    /// Converts `Create an identity pool.` to `Create creates an identity pool.`
    static func verb(_ name: String, _ summary: String) -> String {
        var words = summary.split(separator: " ").map(String.init)
        guard let first = words.first else { return name }
        words[0] = thirdPerson(first.prefix(1).lowercased() + first.dropFirst())
        // "Inject, list or clear faults.": finds the verbs after a comma, "or" and "and".
        var index = 0
        while index + 1 < words.count {
            if words[index].hasSuffix(",") {
                index += 1
            } else if index + 2 < words.count, ["or", "and"].contains(words[index + 1]) {
                index += 2
            } else {
                break
            }
            words[index] = thirdPerson(words[index])
        }
        return name + " " + words.joined(separator: " ")
    }

    /// Converts `A user's account.` to `Account is a user's account.`
    static func noun(_ name: String, _ description: String) -> String {
        if description.hasPrefix("The parameters of ") { return "\(name) are the \(description.dropFirst(4))" }
        for article in ["A ", "An ", "The "] where description.hasPrefix(article) {
            return "\(name) is \(article.lowercased())\(description.dropFirst(article.count))"
        }
        return description.isEmpty ? "\(name) is a type of the contract." : "\(name): \(description)"
    }

    private static func thirdPerson(_ word: String) -> String {
        let end = word.hasSuffix(",") ? "," : ""
        let verb = word.dropLast(end.count)
        if ["s", "x", "z", "ch", "sh", "o"].contains(where: { verb.hasSuffix($0) }) { return verb + "es" + end }
        let beforeLast = verb.dropLast().last ?? "a"
        if verb.hasSuffix("y"), !"aeiou".contains(beforeLast) { return verb.dropLast() + "ies" + end }
        return verb + "s" + end
    }
}
