/// Finds existing names that are similar to a mistyped name.
public enum NearestNames {
    /// Returns at most three names that are similar to `name`, best match first.
    public static func of(_ name: String, among known: [String]) -> [String] {
        guard name.utf8.count <= 128 else { return [] }
        let letters = Array(name.lowercased().utf8)
        let ranked = known.compactMap { candidate -> (distance: Int, name: String)? in
            let other = Array(candidate.lowercased().utf8)
            let distance = distance(letters, other)
            let near = max(2, max(letters.count, other.count) / 3)
            // A word in which at least half of the letters differ is not a plausible typing error.
            if distance <= near, distance * 2 < max(letters.count, other.count) { return (distance, candidate) }
            return endsAlike(letters, other) || begins(other, with: letters) ? (near + 1, candidate) : nil
        }
        var names: [String] = []
        for entry in ranked.sorted(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) where names.count < 3 {
            if !names.contains(entry.name) { names.append(entry.name) }
        }
        return names
    }

    /// Returns a sentence to append to a message, with a leading space.
    ///
    /// - Parameter otherwise: The sentence to use if no name is similar. Defaults to the empty string.
    public static func hint(_ name: String, among known: [String], otherwise: String = "") -> String {
        let near = of(name, among: known)
        let first = near.dropLast().joined(separator: ", ")
        let sentence = near.last.map { "Did you mean \(first.isEmpty ? $0 : "\(first) or \($0)")?" } ?? otherwise
        return sentence.isEmpty ? "" : " " + sentence
    }

    /// Returns whether the shorter one, of at least four letters, is a suffix of the longer one: `mintForDeveloper` and
    /// `token.mintForDeveloper`.
    private static func endsAlike(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        min(a.count, b.count) >= 4 && (a.suffix(b.count).elementsEqual(b) || b.suffix(a.count).elementsEqual(a))
    }

    /// Returns whether `letters` is the part of `other` before a dot: `google` and `google.com`.
    private static func begins(_ other: [UInt8], with letters: [UInt8]) -> Bool {
        letters.count >= 4 && other.starts(with: letters + [UInt8(ascii: ".")])
    }

    /// Returns the edit distance (optimal string alignment): the number of letters to insert, delete, replace or swap with their neighbor.
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
