import Arguments
import Contract
import JSON
import Platform

/// `mintmark methods`
struct Methods: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the methods with their summaries.",
        discussion: """
            With words, lists only the methods that contain all of them in their name, their texts, their parameters or the names of the
            same function in other products.

              mintmark methods
              mintmark methods login
              mintmark methods forgot password
            """)

    @Flag(help: "List only the methods that are available with --caller public.")
    var `public` = false

    @Flag(help: "Print JSON: a list of objects with name, summary, caller, readOnly and testing.")
    var json = false

    @Argument(help: "Words that the methods contain.")
    var words: [String] = []

    @OptionGroup var pager: PagerOption

    @OptionGroup var output: ColorOption

    func run() throws {
        let offered = Contract.MethodTable.all.filter { !`public` || $0.caller == .public }
        let found = offered.filter { method in words.allSatisfy { Self.contains(method, $0) } }
        if found.isEmpty {
            let hint = NearestNames.hint(words[0], among: Contract.MethodTable.all.map(\.name))
            throw ValidationError(
                "No method contains \(words.joined(separator: " and ")).\(hint) To list all methods, run mintmark methods.")
        }
        if json { return try Printing.out(JSONValue.array(found.map(Self.object)).text) }
        try Self.list(found)
    }

    private static func object(_ method: MethodInfo) -> JSONValue {
        [
            "name": .string(method.name), "summary": .string(method.summary),
            "caller": .string(method.caller == .public ? "public" : "developer"), "readOnly": .bool(method.isReadOnly),
            "testing": .bool(method.isTesting),
        ]
    }

    /// Words for which users search, and the words of the contract.
    private static let synonyms = [
        "login": "signin", "logon": "signin", "logout": "signout", "2fa": "mfa", "otp": "mfa", "forgot": "passwordreset",
        "register": "signup",
        "user": "account", "users": "account", "sso": "idp", "remove": "delete",
    ]

    /// Returns whether a method contains a word, or the word of the contract for it. Case does not matter.
    static func contains(_ method: MethodInfo, _ word: String) -> Bool {
        let word = word.lowercased()
        let name = method.name.lowercased().replacing(".", with: "") + " " + method.name.lowercased()
        if let other = synonyms[word], name.includes(other) { return true }
        let fields = (method.params + method.result).map { "\($0.name) \($0.description)" }
        let texts = [name, method.summary, method.description] + fields + method.equivalents.map(\.names)
        return texts.joined(separator: " ").lowercased().includes(word)
    }

    /// Prints one line per method.
    static func list(_ methods: [MethodInfo]) throws {
        let width = methods.map(\.name.count).max() ?? 0
        for method in methods {
            let padding = String(repeating: " ", count: width - method.name.count)
            let marks = [method.caller == .public ? "public" : nil, method.isTesting ? "with --testing" : nil].compactMap { $0 }
            let note = marks.isEmpty ? "" : Printing.dim("  (\(marks.joined(separator: ", ")))")
            try Printing.out("\(Printing.bold(method.name))\(padding)  \(method.summary)\(note)")
        }
    }
}
