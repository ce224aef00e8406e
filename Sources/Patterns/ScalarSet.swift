/// A set of Unicode scalars.
public struct ScalarSet: Hashable, Sendable {
    /// The scalars and ranges as written. `ignoresCase` applies to them only.
    private(set) var written: [ClosedRange<UInt32>] = []
    /// The scalars of escapes such as `\d` and of classes such as `[:alpha:]`.
    private(set) var fixed: [ClosedRange<UInt32>] = []
    /// The general categories, as bits.
    var categories: UInt32 = 0
    var isInverted = false
    var ignoresCase = false

    static let all: ClosedRange<UInt32> = 0...0x10FFFF

    /// Adds a range as written.
    mutating func insert(_ range: ClosedRange<UInt32>) { written.append(range) }

    /// Adds ranges that do not depend on `ignoresCase`.
    mutating func insert(fixed ranges: [ClosedRange<UInt32>]) { fixed += ranges }

    /// Sorts and joins the ranges, which `contains` requires.
    mutating func normalize() {
        written = Self.joined(written)
        fixed = Self.joined(fixed)
    }

    /// Returns whether the set contains `scalar`.
    ///
    /// - Parameter variants: the scalars that differ from `scalar` only in case, including `scalar`.
    func contains(_ scalar: Unicode.Scalar, variants: [UInt32]) -> Bool {
        contains(scalar, anyOf: ignoresCase ? variants : [scalar.value])
    }

    private func contains(_ scalar: Unicode.Scalar, anyOf variants: [UInt32]) -> Bool {
        let isListed = Self.contains(fixed, scalar.value) || variants.contains { Self.contains(written, $0) }
        let isFound = isListed || (categories != 0 && categories & GeneralCategories.bit(of: scalar) != 0)
        return isFound != isInverted
    }

    /// The set as bytes, if it contains either all or none of the scalars above U+007F and does not depend on Unicode data.
    public var portable: (ascii: Set<UInt8>, beyondASCII: Bool)? {
        guard categories == 0, !ignoresCase else { return nil }
        let ranges = Self.joined(written + fixed)
        let ascii = Set((0..<128).filter { Self.contains(ranges, UInt32($0)) != isInverted }.map { UInt8($0) })
        guard let last = ranges.last, last.upperBound > 127 else { return (ascii, isInverted) }
        guard last.lowerBound <= 128, last.upperBound == Self.all.upperBound else { return nil }
        return (ascii, !isInverted)
    }

    // MARK: Ranges

    /// Returns the sorted ranges, without overlaps.
    static func joined(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var all: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = all.last, range.lowerBound <= last.upperBound + 1 {
                all[all.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                all.append(range)
            }
        }
        return all
    }

    /// Returns all scalars outside of the ranges, which are sorted.
    static func inverted(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var all: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if next < range.lowerBound { all.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= Self.all.upperBound { all.append(next...Self.all.upperBound) }
        return all
    }

    private static func contains(_ ranges: [ClosedRange<UInt32>], _ scalar: UInt32) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].lowerBound <= scalar
    }
}

/// The general categories of Unicode by name.
enum GeneralCategories {
    static func bit(of scalar: Unicode.Scalar) -> UInt32 { bits[scalar.properties.generalCategory] ?? 0 }

    private static let named: [(name: String, category: Unicode.GeneralCategory)] = [
        ("lu", .uppercaseLetter), ("ll", .lowercaseLetter), ("lt", .titlecaseLetter), ("lm", .modifierLetter), ("lo", .otherLetter),
        ("mn", .nonspacingMark), ("mc", .spacingMark), ("me", .enclosingMark),
        ("nd", .decimalNumber), ("nl", .letterNumber), ("no", .otherNumber),
        ("pc", .connectorPunctuation), ("pd", .dashPunctuation), ("ps", .openPunctuation), ("pe", .closePunctuation),
        ("pi", .initialPunctuation), ("pf", .finalPunctuation), ("po", .otherPunctuation),
        ("sm", .mathSymbol), ("sc", .currencySymbol), ("sk", .modifierSymbol), ("so", .otherSymbol),
        ("zs", .spaceSeparator), ("zl", .lineSeparator), ("zp", .paragraphSeparator),
        ("cc", .control), ("cf", .format), ("cs", .surrogate), ("co", .privateUse), ("cn", .unassigned),
    ]

    private static let bits = Dictionary(uniqueKeysWithValues: named.indices.map { (named[$0].category, UInt32(1) << UInt32($0)) })

    /// The bits of all categories.
    static let all = (UInt32(1) << UInt32(named.count)) - 1

    /// Returns the categories with this name, such as `Lu`, `L`, `L&` or `Any`, or `nil` if it is unknown. Case, spaces, hyphens and
    /// underscores are ignored.
    static func bits(named name: String) -> UInt32? {
        let name = name.lowercased().filter { !" -_".contains($0) }
        switch name {
        case "any": return all
        case "l&", "lc": return bits(named: "lu")! | bits(named: "ll")! | bits(named: "lt")!
        case "xan": return bits(named: "l")! | bits(named: "n")!
        default:
            guard name.count == 1 || name.count == 2 else { return nil }
            let found = named.filter { $0.name.hasPrefix(name) }.reduce(UInt32(0)) { $0 | bits[$1.category]! }
            return found == 0 ? nil : found
        }
    }
}

/// The scalars that differ only in case, by simple case folding.
enum CaseVariants {
    /// Returns the scalars that differ from `scalar` only in case, including `scalar`.
    static func of(_ scalar: Unicode.Scalar) -> [UInt32] { sets[scalar.value] ?? [scalar.value] }

    private static let sets: [UInt32: [UInt32]] = {
        var byFold: [UInt32: [UInt32]] = [:]
        // Between and after these ranges are ideographs, syllables without case, surrogates, private use and unassigned scalars.
        for range in [UInt32(0)...0x33FF, 0xA000...0xABFF, 0xF900...0x1FFFF] {
            for value in range {
                guard let scalar = Unicode.Scalar(value), scalar.properties.changesWhenCaseMapped else { continue }
                let folded = fold(scalar)
                byFold[folded, default: folded == value ? [] : [folded]].append(value)
            }
        }
        var sets: [UInt32: [UInt32]] = [:]
        for (_, members) in byFold {
            let members = Array(Set(members)).sorted()
            if members.count > 1 { for member in members { sets[member] = members } }
        }
        return sets
    }()

    private static func fold(_ scalar: Unicode.Scalar) -> UInt32 {
        // The dotless i has the capital I, but folds to itself.
        if scalar == "\u{131}" { return scalar.value }
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return (single(upper.properties.lowercaseMapping) ?? upper).value
    }

    private static func single(_ text: String) -> Unicode.Scalar? {
        let scalars = text.unicodeScalars
        return scalars.count == 1 ? scalars.first : nil
    }
}
