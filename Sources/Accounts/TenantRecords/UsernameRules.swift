import Contract

/// An email address used to sign up or sign in.
package struct Username: Sendable, Equatable {
    /// The address as the user entered it, for display and for claims.
    package let typed: String
    /// The form used in comparisons: ASCII letters in both parts in lowercase, otherwise unchanged.
    package let folded: String

    /// - Throws: `InvalidUsername`.
    package init(_ typed: String) throws {
        if let reason = Self.flaw(in: Array(typed.utf8)) { throw InvalidUsername(reason: reason) }
        self.typed = typed
        folded = Self.fold(typed)
    }

    /// Converts A to Z to lowercase, independent of the locale.
    package static func fold(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }

    /// The address in a form that hides its characters and the lengths of its parts, for callers that may not be its owner.
    var masked: String {
        let parts = typed.split(separator: "@", maxSplits: 1)
        let domain = parts[1].split(separator: ".")
        return "\(parts[0].prefix(1))***@\(domain[0].prefix(1))***.\(domain[domain.count - 1])"
    }

    private static func flaw(in bytes: [UInt8]) -> String? {
        if bytes.isEmpty { return "it is empty" }
        if bytes.count > 254 { return "it is longer than 254 characters" }
        if bytes.contains(where: { $0 >= 0x80 }) { return "it contains non-ASCII characters" }
        if bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }) { return "it contains spaces or control characters" }
        let parts = bytes.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { return "it must have the form name@domain" }
        return flaw(inLocal: parts[0]) ?? flaw(inDomain: parts[1])
    }

    /// Accepts a dot-string of RFC 5321; quoted local parts are rejected.
    private static func flaw(inLocal part: ArraySlice<UInt8>) -> String? {
        if part.isEmpty || part.count > 64 { return "the part before the @ must have 1 to 64 characters" }
        let atoms = part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if atoms.contains(where: \.isEmpty) { return "the part before the @ must not begin or end with a dot or contain two dots in a row" }
        let symbols = Array("!#$%&'*+-/=?^_`{|}~".utf8)
        let isFine = atoms.allSatisfy { $0.allSatisfy { isLetterOrDigit($0) || symbols.contains($0) } }
        return isFine ? nil : "the part before the @ contains characters that are not allowed"
    }

    private static func flaw(inDomain part: ArraySlice<UInt8>) -> String? {
        let labels = part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2 else { return "the domain must contain a dot" }
        let hyphen = UInt8(ascii: "-")
        for label in labels {
            guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen,
                label.allSatisfy({ isLetterOrDigit($0) || $0 == hyphen })
            else { return "the domain is not valid" }
        }
        return labels[labels.count - 1].allSatisfy { (0x30...0x39).contains($0) } ? "the domain must not end in a number" : nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
