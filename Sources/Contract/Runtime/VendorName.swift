/// What another product calls a method: operations of its service and functions of its SDKs.
public struct VendorName: Sendable {
    /// The product, such as `firebase`.
    public let vendor: String
    /// The names, separated by commas and semicolons. A name may follow the SDK that has it (`Android: getCredentials`), and words that say
    /// which of its uses is meant (`accounts:update password`).
    public let names: String

    public init(vendor: String, names: String) {
        self.vendor = vendor
        self.names = names
    }

    /// How exactly `name`, which is in lower case, is among the names: 0 for a whole name, 1 for a word of one, nil for none.
    func rank(of name: String) -> Int? {
        var rank: Int?
        for item in names.split(whereSeparator: { $0 == "," || $0 == ";" }) {
            var words = item.lowercased().split(separator: " ").map { String($0) }
            // The SDK that the name belongs to.
            if let first = words.first, first.hasSuffix(":") { words.removeFirst() }
            let isWhole = words.count == 1
            for word in words where word.utf8.count >= 4 && Self.stands(name, for: word) { rank = isWhole ? 0 : rank ?? 1 }
        }
        return rank
    }

    /// Whether a word is the name, or its last part is: `signInWithIdp` for `accounts:signInWithIdp`, and the method with its arguments for
    /// the method.
    private static func stands(_ name: String, for word: String) -> Bool {
        let plain = word.prefix { $0 != "(" }
        return plain == name || plain.hasSuffix(":" + name) || plain.hasSuffix("." + name)
    }
}

extension MethodInfo {
    /// The methods that other products call `name`, the best first, at most six. Case does not matter, nor do an SDK's object before the
    /// last dot and parentheses after the name.
    public static func called(_ name: String, among methods: [MethodInfo]) -> [MethodInfo] {
        guard name.utf8.count <= 128 else { return [] }
        var depth = 0
        let wanted = name.lowercased().filter { character in
            if character == "(" { depth += 1 }
            defer { if character == ")" { depth -= 1 } }
            return depth <= 0 && character != ")"
        }
        let candidates = [wanted, String(wanted.split(separator: ".").last ?? "")].filter { $0.utf8.count >= 4 }
        let ranked = methods.enumerated().compactMap { place, method -> (rank: Int, place: Int, method: MethodInfo)? in
            let ranks = method.equivalents.flatMap { equivalent in candidates.compactMap { equivalent.rank(of: $0) } }
            return ranks.min().map { ($0, place, method) }
        }
        return ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.prefix(6).map(\.method)
    }
}
