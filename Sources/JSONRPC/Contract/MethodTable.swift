/// A method lookup that is backed by a dictionary.
public struct MethodTable: MethodLookup {
    private let methods: [String: Method]

    /// - Precondition: The names of the methods are unique.
    public init(_ methods: [Method]) {
        self.methods = Dictionary(uniqueKeysWithValues: methods.map { ($0.name, $0) })
    }

    public var names: [String] { methods.keys.sorted() }

    public func method(named name: String) -> Method? { methods[name] }

    public func nearest(to name: String) -> [String] { NearestNames.of(name, among: methods.keys) }
}

/// Suggestions for a name that does not exist.
public enum NearestNames {
    /// Returns up to `limit` of `names` that differ from `name` in few letters, or that have the same part after the last dot, best match
    /// first. The comparison is case-insensitive.
    public static func of(_ name: String, among names: some Sequence<String>, limit: Int = 3) -> [String] {
        guard name.utf8.count <= 64 else { return [] }
        let wanted = Array(name.lowercased().utf8)
        let tolerance = max(2, wanted.count / 4)
        return
            names
            .map { candidate in
                let letters = Array(candidate.lowercased().utf8)
                let sameEnd = lastPart(letters) == lastPart(wanted)
                return (name: candidate, distance: min(distance(wanted, letters), sameEnd ? tolerance : .max))
            }
            .filter { $0.distance <= tolerance }
            .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
            .prefix(limit)
            .map(\.name)
    }

    private static func lastPart(_ name: [UInt8]) -> ArraySlice<UInt8> {
        name.lastIndex(of: UInt8(ascii: ".")).map { name[($0 + 1)...] } ?? name[...]
    }

    /// Returns the Levenshtein distance: the number of letters to insert, delete or replace.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var previous = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var current = [i + 1]
            current.reserveCapacity(b.count + 1)
            for (j, other) in b.enumerated() {
                current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + (letter == other ? 0 : 1)))
            }
            previous = current
        }
        return previous[b.count]
    }
}
