import JSON

/// Words that a password must not contain, or not consist of: names, the address of its account, and parts of the address.
///
/// - Source: NIST SP 800-63B-4 section 3.1.1.2; OWASP ASVS 5.0 6.2.11; Microsoft Entra Password Protection for names.
struct ContextWords: Sendable {
    /// A password with at least this many characters outside of words is more than the words.
    private static let enoughOthers = 8
    /// Words with fewer characters are found in too many passwords.
    private static let shortest = 4

    /// What a password must not contain anywhere.
    private let names: Set<[Unicode.Scalar]>
    /// What a password must not consist of, but for a few characters.
    private let words: Set<[Unicode.Scalar]>
    /// What counts as such a word only in a password that has one of them.
    private let companions: Set<[Unicode.Scalar]>

    /// - Parameters:
    ///   - addresses: email addresses: a password must not consist of one, of its local part with or without separators, or of pieces of it,
    ///     also together with its domain.
    ///   - displayNames: a password must not consist of one, with or without spaces, or of a part between spaces.
    ///   - names: a password must not contain one.
    init(addresses: [String] = [], displayNames: [String] = [], names: [String] = []) {
        func folded(_ texts: [[Unicode.Scalar]]) -> Set<[Unicode.Scalar]> {
            Set(texts.filter { $0.count >= Self.shortest }.map { $0.map(Self.folded) })
        }
        var (texts, domains): ([[Unicode.Scalar]], [[Unicode.Scalar]]) = ([], [])
        for address in addresses {
            let scalars = Array(address.unicodeScalars)
            let end = scalars.lastIndex(of: "@") ?? scalars.endIndex
            let local = scalars[..<end]
            domains += scalars[end...].split { $0 == "@" || Self.separators.contains($0) }.dropLast().map(Array.init)
            texts += [scalars, Array(local), local.filter { !Self.separators.contains($0) }]
            texts += local.split { Self.separators.contains($0) || Self.isDigit($0) }.map(Array.init)
        }
        for name in displayNames {
            let scalars = Array(name.unicodeScalars)
            texts += [scalars, scalars.filter { !$0.properties.isWhitespace }]
            texts += scalars.split(whereSeparator: \.properties.isWhitespace).map(Array.init)
        }
        words = folded(texts)
        companions = folded(domains)
        self.names = folded(names.map { Array($0.unicodeScalars) })
    }

    /// Whether a password contains one of the names, or has some of the words, as whole words, and fewer than eight other characters.
    func refuse(_ password: String) -> Bool {
        let scalars = Array(password.unicodeScalars)
        let folded = scalars.map(Self.folded)
        func places(of word: [Unicode.Scalar]) -> [Range<Int>] {
            guard scalars.count >= word.count else { return [] }
            return (0...scalars.count - word.count).map { $0..<$0 + word.count }.filter { folded[$0].elementsEqual(word) }
        }
        func wholeWords(_ words: Set<[Unicode.Scalar]>) -> [Range<Int>] {
            words.flatMap(places).filter { Self.isBoundary(scalars, at: $0.lowerBound) && Self.isBoundary(scalars, at: $0.upperBound) }
        }
        if names.contains(where: { !places(of: $0).isEmpty }) { return true }
        let found = wholeWords(words)
        if found.isEmpty { return false }
        let covered = Set((found + wholeWords(companions)).joined())
        return scalars.count - covered.count < Self.enoughOthers
    }

    private static let separators: Set<Unicode.Scalar> = [".", "_", "-", "+"]

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// Whether a word can begin or end before `index`: not inside a run of letters, but where an uppercase letter follows a lowercase one.
    private static func isBoundary(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
        guard index > 0, index < scalars.count else { return true }
        let (before, after) = (scalars[index - 1].properties, scalars[index].properties)
        return !before.isAlphabetic || !after.isAlphabetic || (before.isLowercase && after.isUppercase)
    }

    /// Lowercase, with 0, 1, $ and @ as the letters that they replace. One scalar stays one, so that places in both texts agree.
    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "0": "o"
        case "1": "l"
        case "$": "s"
        case "@": "a"
        default: scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
        }
    }
}

extension ContextWords {
    /// The words of an account: its address, its names, and the name of its tenant.
    ///
    /// - Parameter address: another address that the account is to get together with the password.
    init(of account: AccountRecord, gaining address: String? = nil, _ tenant: TenantRecord) {
        self.init(
            addresses: [account.username, account.email, address].compactMap { $0 }, attributes: account.attributes, tenant)
    }

    init(addresses: [String], attributes: JSONObject, _ tenant: TenantRecord) {
        let names = ["givenName", "surname"].compactMap { attributes[$0]?.string }
        self.init(
            addresses: addresses, displayNames: names + [attributes["displayName"]?.string].compactMap { $0 },
            names: names + [tenant.settings.name].compactMap { $0 })
    }
}
