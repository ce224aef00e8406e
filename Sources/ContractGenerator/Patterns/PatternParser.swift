/// The structure of a pattern. Letters are sets of scalars: a set of ASCII scalars, and whether all others are included.
indirect enum PatternNode {
    case letters(Letters)
    case sequence([PatternNode])
    case either([PatternNode])
    case repeated(PatternNode, least: Int, most: Int?)
}

/// A set of scalars.
struct Letters: Equatable {
    var ascii: Set<UInt8> = []
    /// Whether the set includes every scalar above U+007F.
    var beyondASCII = false

    var inverted: Letters { Letters(ascii: Set(0..<128).subtracting(ascii), beyondASCII: !beyondASCII) }

    static let word = Letters(ascii: Set((0..<128).filter { Unicode.Scalar($0).properties.isAlphabetic || 48...57 ~= $0 || $0 == 95 }))
    static let digit = Letters(ascii: Set(48...57))
    static let space = Letters(ascii: [9, 10, 11, 12, 13, 32])
    static let any = Letters(ascii: Set(0..<128).subtracting([10, 13]), beyondASCII: true)
}

/// Thrown for a pattern outside the supported subset of ECMA 262: literals, classes, `\w \d \s` for ASCII and their negations, groups,
/// alternatives and quantifiers, enclosed in `^` and `$`.
struct PatternError: Error, CustomStringConvertible {
    let description: String
}

/// Parses a pattern.
struct PatternParser {
    private let scalars: [Unicode.Scalar]
    private var position = 0

    static func parse(_ pattern: String) throws(PatternError) -> PatternNode {
        guard pattern.hasPrefix("^"), pattern.hasSuffix("$"), !pattern.hasSuffix("\\$") else {
            throw PatternError(description: "a pattern stands between ^ and $")
        }
        var parser = PatternParser(scalars: Array(pattern.unicodeScalars.dropFirst().dropLast()))
        let node = try parser.alternatives()
        guard parser.position == parser.scalars.count else { throw PatternError(description: "an unmatched ) in \(pattern)") }
        return node
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    private var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func next() throws(PatternError) -> Unicode.Scalar {
        guard let scalar = current else { throw PatternError(description: "the pattern ends too early") }
        position += 1
        return scalar
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == scalar else { return false }
        position += 1
        return true
    }

    // MARK: Structure

    private mutating func alternatives() throws(PatternError) -> PatternNode {
        var all = [try sequence()]
        while take("|") { all.append(try sequence()) }
        return all.count == 1 ? all[0] : .either(all)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var all: [PatternNode] = []
        while let scalar = current, scalar != "|", scalar != ")" { all.append(try quantified()) }
        return .sequence(all)
    }

    private mutating func quantified() throws(PatternError) -> PatternNode {
        let atom = try self.atom()
        let node: PatternNode
        switch current {
        case "*": node = .repeated(atom, least: 0, most: nil)
        case "+": node = .repeated(atom, least: 1, most: nil)
        case "?": node = .repeated(atom, least: 0, most: 1)
        case "{": return try counted(atom)
        default: return atom
        }
        position += 1
        return node
    }

    private mutating func counted(_ atom: PatternNode) throws(PatternError) -> PatternNode {
        position += 1
        let least = try number()
        var most: Int? = least
        if take(",") { most = current == "}" ? nil : try number() }
        guard take("}"), most.map({ $0 >= least }) ?? true else { throw PatternError(description: "a count is wrong") }
        return .repeated(atom, least: least, most: most)
    }

    private mutating func number() throws(PatternError) -> Int {
        var digits = ""
        while let scalar = current, "0"..."9" ~= scalar {
            digits.unicodeScalars.append(scalar)
            position += 1
        }
        guard let number = Int(digits) else { throw PatternError(description: "a count is wrong") }
        return number
    }

    private mutating func atom() throws(PatternError) -> PatternNode {
        let scalar = try next()
        switch scalar {
        case "(":
            if take("?") { guard take(":") else { throw PatternError(description: "of (? only (?: is known") } }
            let node = try alternatives()
            guard take(")") else { throw PatternError(description: "an unmatched (") }
            return node
        case "[": return .letters(try letterClass())
        case ".": return .letters(.any)
        case "\\": return .letters(try escape())
        case "^", "$", "*", "+", "?", "{", "}", "]": throw PatternError(description: "\(scalar) cannot stand here")
        default: return .letters(try single(scalar))
        }
    }

    // MARK: Letters

    private func single(_ scalar: Unicode.Scalar) throws(PatternError) -> Letters {
        guard scalar.isASCII else { throw PatternError(description: "only ASCII letters can be named") }
        return Letters(ascii: [UInt8(scalar.value)])
    }

    private mutating func escape() throws(PatternError) -> Letters {
        let scalar = try next()
        switch scalar {
        case "w": return .word
        case "W": return .word.inverted
        case "d": return .digit
        case "D": return .digit.inverted
        case "s": return .space
        case "S": return .space.inverted
        case "t": return Letters(ascii: [9])
        case "n": return Letters(ascii: [10])
        case "r": return Letters(ascii: [13])
        case "x":
            let digits = String(String.UnicodeScalarView([try next(), try next()]))
            guard let value = UInt8(digits, radix: 16), value < 128 else { throw PatternError(description: "\\x\(digits) is not ASCII") }
            return Letters(ascii: [value])
        default:
            guard scalar.isASCII, !scalar.properties.isAlphabetic, !("0"..."9" ~= scalar) else {
                throw PatternError(description: "\\\(scalar) is not known")
            }
            return Letters(ascii: [UInt8(scalar.value)])
        }
    }

    private mutating func letterClass() throws(PatternError) -> Letters {
        let isInverted = take("^")
        var all = Letters()
        while !take("]") {
            let first = try member()
            if current == "-", position + 1 < scalars.count, scalars[position + 1] != "]" {
                position += 1
                let last = try member()
                guard let low = first.ascii.first, let high = last.ascii.first, first.ascii.count == 1, last.ascii.count == 1, low <= high
                else {
                    throw PatternError(description: "a range is wrong")
                }
                all.ascii.formUnion(low...high)
            } else {
                all.ascii.formUnion(first.ascii)
                all.beyondASCII = all.beyondASCII || first.beyondASCII
            }
        }
        return isInverted ? all.inverted : all
    }

    private mutating func member() throws(PatternError) -> Letters {
        let scalar = try next()
        return scalar == "\\" ? try escape() : try single(scalar)
    }
}
