@testable import JSON

/// Generates random values of every kind. The same seed generates the same values.
struct RandomValues: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The SplitMix64 algorithm.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func value(depth: Int = 5) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 8), using: &self) {
        case 0: return [nil, true, false, [], [:], ""].randomElement(using: &self)!
        case 1...3: return .number(number())
        case 4...7: return .string(string())
        case 8...9: return .array((0..<Int.random(in: 0...6, using: &self)).map { _ in value(depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...6, using: &self) { object[string()] = value(depth: depth - 1) }
            return .object(object)
        }
    }

    /// A value nested in the maximum number of arrays and objects.
    mutating func deepest() -> JSONValue {
        var inside = value(depth: 0)
        for _ in 0..<(inside.array != nil || inside.object != nil ? 63 : 64) {
            inside = Bool.random(using: &self) ? [inside] : .object([string(): inside])
        }
        return inside
    }

    // MARK: Strings

    private static let places = [
        "", "\u{0}", "\u{8}", "\t", "\n", "\u{B}", "\u{C}", "\r", "\u{1F}", " ", "\"", "\\", "/", "\u{7F}", "\u{80}", "\u{9F}", "é",
        "e\u{301}",
        "\u{7FF}", "\u{800}", "\u{2028}", "\u{2029}", "\u{D7FF}", "\u{E000}", "\u{FEFF}", "\u{FFFD}", "\u{FFFF}", "\u{10000}", "😀",
        "👩\u{200D}👩\u{200D}👧", "\u{10FFFF}", "\\u0041", "\\\"", "</script>", "__proto__", "10", "2",
    ]

    mutating func string() -> String {
        switch Int.random(in: 0..<10, using: &self) {
        case 0: return Self.places.randomElement(using: &self)!
        case 1...4: return (0..<Int.random(in: 0...9, using: &self)).map { _ in Self.places.randomElement(using: &self)! }.joined()
        case 5...7: return letters(Int.random(in: 0...40, using: &self)) + Self.places.randomElement(using: &self)! + letters(8)
        case 8: return String(String.UnicodeScalarView((0..<Int.random(in: 1...20, using: &self)).map { _ in scalar() }))
        default: return letters(Int.random(in: 100...2000, using: &self))
        }
    }

    private mutating func letters(_ count: Int) -> String {
        String(decoding: (0..<count).map { _ in UInt8.random(in: 0x23...0x5B, using: &self) }, as: UTF8.self)
    }

    private mutating func scalar() -> Unicode.Scalar {
        while true {
            let highest = [0x7F, 0x7FF, 0xFFFF, 0x10FFFF].randomElement(using: &self)! as UInt32
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...highest, using: &self)) { return scalar }
        }
    }

    // MARK: Numbers

    private static let numbers = [
        "0", "-0", "0.0", "-0.0", "0e0", "-0E-0", "1E+2", "1e400", "-1e400", "1e-400", "0.1", "0.30000000000000004", "100", "1.50", "1e23",
        "9007199254740993", "2.2250738585072011e-308", "5e-324", "2e-324", "1.7976931348623157e308", "1.7976931348623159e308",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551616", "0e999999999999",
        "12345678901234567890.123456789e-400",
    ]

    /// A number in an arbitrary notation, or as the writer formats an integer or a double.
    mutating func number() -> JSONNumber {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: return JSONNumber(verified: Self.numbers.randomElement(using: &self)!)
        case 1: return JSONNumber(Int64.random(in: -1000...1000, using: &self))
        case 2: return JSONNumber([Int64.min, .max, .min + 1, .max - 1, 1 << 53, 1 << 53 + 1].randomElement(using: &self)!)
        case 3: return JSONNumber(Int64(truncatingIfNeeded: next()) >> Int.random(in: 0..<64, using: &self))
        case 4: return JSONNumber(Double(bitPattern: next())) ?? JSONNumber(verified: "1e999")
        default:
            var text = Bool.random(using: &self) ? "-" : ""
            text += Bool.random(using: &self) ? "0" : ["1", "9"].randomElement(using: &self)! + digits(0...20)
            if Bool.random(using: &self) { text += "." + digits(1...20) }
            if Bool.random(using: &self) {
                text += ["e", "E"].randomElement(using: &self)! + ["", "+", "-"].randomElement(using: &self)! + digits(1...3)
            }
            return JSONNumber(verified: text)
        }
    }

    private mutating func digits(_ count: ClosedRange<Int>) -> String {
        (0..<Int.random(in: count, using: &self)).map { _ in String(Int.random(in: 0...9, using: &self)) }.joined()
    }
}
