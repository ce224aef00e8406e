import JSON
import Platform

/// Words that a password must not contain or consist of: names, the account's email address, and parts of the address.
///
/// - Source: NIST SP 800-63B-4 §3.1.1.2; OWASP ASVS 5.0 §6.2.11; Microsoft Entra Password Protection for names.
struct ContextWords: Sendable {
    /// The number of characters outside of the words at which a password is accepted.
    private static let enoughOthers = 8
    /// The minimum length of a word. Shorter words occur in too many passwords.
    private static let shortest = 4

    /// Words that a password must not contain anywhere.
    private let names: Set<[Unicode.Scalar]>
    /// Words that a password must not consist of, except for a few additional characters.
    private let words: Set<[Unicode.Scalar]>

    /// - Parameters:
    ///   - addresses: Email addresses. A password must not consist of an address, of its local part with or without separators, or of
    ///   pieces of
    ///     the local part, also together with parts of the domain.
    ///   - displayNames: Names of which a password must not consist, with or without spaces, nor of their parts between spaces.
    ///   - names: Names that a password must not contain.
    init(addresses: [String] = [], displayNames: [String] = [], names: [String] = []) {
        func folded(_ texts: [[Unicode.Scalar]]) -> Set<[Unicode.Scalar]> {
            Set(texts.filter { $0.count >= Self.shortest }.map { $0.map(Self.folded) })
        }
        var (texts, domains): ([[Unicode.Scalar]], [[Unicode.Scalar]]) = ([], [])
        for address in addresses {
            let scalars = Array(address.nfc.unicodeScalars)
            let end = scalars.lastIndex(of: "@") ?? scalars.endIndex
            let local = scalars[..<end]
            let labels = scalars[end...].split { $0 == "@" || $0 == "." }.dropLast()
            domains += labels.map(Array.init) + [Array(labels.joined(separator: ["."]))]
            texts += [scalars, Array(local), local.filter { !Self.separators.contains($0) }]
            texts += local.split { Self.separators.contains($0) || Self.isDigit($0) }.map(Array.init)
        }
        for name in displayNames {
            let scalars = Array(name.nfc.unicodeScalars)
            texts += [scalars, scalars.filter { !$0.properties.isWhitespace }]
            texts += scalars.split(whereSeparator: \.properties.isWhitespace).map(Array.init)
        }
        words = folded(texts + domains)
        self.names = folded(names.map { Array($0.nfc.unicodeScalars) })
    }

    /// Returns whether a password contains one of the names, or contains some of the words as whole words and fewer than eight other
    /// characters.
    func refuse(_ password: String) -> Bool {
        let scalars = Array(password.nfc.unicodeScalars)
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
        let covered = Set(found.joined())
        return scalars.count - covered.count < Self.enoughOthers
    }

    private static let separators: Set<Unicode.Scalar> = [".", "_", "-", "+"]

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// Returns whether a word can begin or end before `index`: at the edge of a run of letters, or between a lowercase and an uppercase
    /// letter.
    private static func isBoundary(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
        guard index > 0, index < scalars.count else { return true }
        let (before, after) = (scalars[index - 1].properties, scalars[index].properties)
        return !before.isAlphabetic || !after.isAlphabetic || (before.isLowercase && after.isUppercase)
    }

    /// Returns the lowercase form, with 0, 1, $ and @ replaced by the letters o, l, s and a. Every scalar maps to one scalar, so indices in
    /// both
    /// texts agree.
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
    /// Collects the words of an account: its addresses, its names, and the name of its tenant.
    ///
    /// - Parameter address: An additional address that the account receives together with the password.
    init(of account: AccountRecord, gaining address: String? = nil, _ tenant: TenantRecord) {
        self.init(
            addresses: [account.username, account.email, address].compactMap { $0 }, attributes: account.attributes, tenant)
    }

    init(addresses: [String], attributes: JSONObject, _ tenant: TenantRecord) {
        let names = ["givenName", "surname"].compactMap { attributes[$0]?.string }
        self.init(
            addresses: addresses, displayNames: names + [attributes["displayName"]?.string].compactMap { $0 } + [tenant.id],
            names: names + [tenant.settings.name].compactMap { $0 })
    }
}
