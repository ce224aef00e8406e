/// Finds what a mistyped name may have meant.
public enum NearestNames {
    /// The names nearest to `name`, the nearest first, at most three; none if nothing is near.
    public static func of(_ name: String, among known: [String]) -> [String] {
        guard name.utf8.count <= 128 else { return [] }
        let letters = Array(name.lowercased().utf8)
        let ranked = known.compactMap { candidate -> (distance: Int, name: String)? in
            let other = Array(candidate.lowercased().utf8)
            let distance = distance(letters, other)
            let near = max(2, max(letters.count, other.count) / 3)
            // Of a word of which half the letters differ, nobody would say that it is the same one mistyped.
            if distance <= near, distance * 2 < max(letters.count, other.count) { return (distance, candidate) }
            return endsAlike(letters, other) || begins(other, with: letters) ? (near + 1, candidate) : nil
        }
        return ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }

    /// A sentence for the end of a message, with the blank before it.
    ///
    /// - Parameter otherwise: what is said if nothing is near; without it nothing is.
    public static func hint(_ name: String, among known: [String], otherwise: String = "") -> String {
        let near = of(name, among: known)
        let sentence = near.isEmpty ? otherwise : "Did you mean \(near.joined(separator: " or "))?"
        return sentence.isEmpty ? "" : " " + sentence
    }

    /// Whether the shorter one, of four letters or more, ends the longer one: `mintForDeveloper` for `token.mintForDeveloper`.
    private static func endsAlike(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        min(a.count, b.count) >= 4 && (a.suffix(b.count).elementsEqual(b) || b.suffix(a.count).elementsEqual(a))
    }

    /// Whether `letters` is all of `other` before a dot: `google` for `google.com`.
    private static func begins(_ other: [UInt8], with letters: [UInt8]) -> Bool {
        letters.count >= 4 && other.starts(with: letters + [UInt8(ascii: ".")])
    }

    /// How many letters must be put in, taken out, replaced or swapped with their neighbour (optimal string alignment).
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
                row.append(best)
            }
            (before, last) = (last, row)
        }
        return last[b.count]
    }
}
