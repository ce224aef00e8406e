/// The names of a method in another product: operations of its service and functions of its SDKs.
public struct VendorName: Sendable {
    /// The product, such as `firebase`.
    public let vendor: String
    /// The names, separated by commas and semicolons. A name may be preceded by its SDK (`Android: getCredentials`) and followed by words
    /// that select one of its uses (`accounts:update password`).
    public let names: String

    public init(vendor: String, names: String) {
        self.vendor = vendor
        self.names = names
    }

    /// Returns how well `name`, in lowercase, matches: 0 for a whole name, 1 for a word of a name, or `nil` if it does not match.
    func rank(of name: String) -> Int? {
        var rank: Int?
        for item in names.split(whereSeparator: { $0 == "," || $0 == ";" }) {
            var words = item.lowercased().split(separator: " ").map { String($0) }
            // The SDK of the name.
            if let first = words.first, first.hasSuffix(":") { words.removeFirst() }
            let isWhole = words.count == 1
            for word in words where word.utf8.count >= 4 && Self.stands(name, for: word) { rank = isWhole ? 0 : rank ?? 1 }
        }
        return rank
    }

    /// Returns whether a word equals the name or ends with it as its last part: `signInWithIdp` for `accounts:signInWithIdp`. Arguments
    /// after the name of a method are ignored.
    private static func stands(_ name: String, for word: String) -> Bool {
        let plain = word.prefix { $0 != "(" }
        return plain == name || plain.hasSuffix(":" + name) || plain.hasSuffix("." + name)
    }
}

extension MethodInfo {
    /// Returns at most six methods that other products call `name`, best match first. The comparison ignores case, an object before the
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
