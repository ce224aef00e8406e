/// Detects passwords that are too common, with the scoring of Microsoft Entra Password Protection.
enum BannedPasswords {
    /// - Parameter terms: The banned terms.
    static func isBanned(_ password: String, terms: [String]) -> Bool {
        score(of: normalized(password), terms: terms.map(normalized)) < 5
    }

    /// Returns one point for every banned term in the password and one point for every character outside of these terms. If terms overlap,
    /// the
    /// lowest possible score applies.
    static func score(of password: String, terms: [String]) -> Int { score(of: normalized(password), terms: terms.map(normalized)) }

    private static func score(of password: [UInt8], terms: [[UInt8]]) -> Int {
        if terms.contains(where: { isClose(password[...], $0) }) { return 1 }
        var best = [Int](repeating: .max, count: password.count + 1)
        best[0] = 0
        for start in password.indices {
            best[start + 1] = min(best[start + 1], best[start] + 1)
            for term in terms {
                for length in max(1, term.count - 1)...(term.count + 1) where start + length <= password.count {
                    let window = password[start..<start + length]
                    // An additional letter counts as part of the term only inside of it, not at its start or end.
                    if length > term.count, window.first != term.first || window.last != term.last { continue }
                    if isClose(window, term) { best[start + length] = min(best[start + length], best[start] + 1) }
                }
            }
        }
        return best[password.count]
    }

    /// Converts the text to lowercase and replaces 0, 1, $ and @ with the letters o, l, s and a.
    private static func normalized(_ text: String) -> [UInt8] {
        text.utf8.map { byte in
            switch byte {
            case 0x41...0x5A: byte + 0x20
            case UInt8(ascii: "0"): UInt8(ascii: "o")
            case UInt8(ascii: "1"): UInt8(ascii: "l")
            case UInt8(ascii: "$"): UInt8(ascii: "s")
            case UInt8(ascii: "@"): UInt8(ascii: "a")
            default: byte
            }
        }
    }

    /// Returns whether the edit distance is at most 1: one letter inserted, removed or changed.
    private static func isClose(_ a: ArraySlice<UInt8>, _ b: [UInt8]) -> Bool {
        guard abs(a.count - b.count) <= 1 else { return false }
        var (i, j, edits) = (a.startIndex, 0, 0)
        while i < a.endIndex, j < b.count {
            if a[i] == b[j] {
                i += 1
                j += 1
                continue
            }
            edits += 1
            if edits > 1 { return false }
            if a.count >= b.count { i += 1 }
            if b.count >= a.count { j += 1 }
        }
        return edits + (a.endIndex - i) + (b.count - j) <= 1
    }
}
