/// A number that keeps its source text, so that it can be written again digit for digit.
public struct JSONNumber: Hashable, Sendable {
    /// The number in JSON notation. Different notations of the same number are different values of this type.
    public let text: String

    init(verified text: String) { self.text = text }

    public init(_ integer: Int64) { text = String(integer) }

    /// - Returns: `nil` for infinities and NaN, which JSON cannot represent.
    public init?(_ double: Double) {
        guard double.isFinite else { return nil }
        let isShort = double == double.rounded() && abs(double) < 1e15
        text = !isShort ? "\(double)" : double == 0 && double.sign == .minus ? "-0" : String(Int64(double))
    }

    /// The exact integer, or `nil` if the number has a fraction or does not fit. `1.0` and `1e3` are integers.
    public var int64: Int64? {
        if let plain = Int64(text), !text.hasPrefix("+") { return plain }
        var negative = false
        var digits: [UInt8] = []
        var scale = 0
        var exponent = 0
        var exponentIsNegative = false
        var part = Part.integer
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): if part == .exponent { exponentIsNegative = true } else { negative = true }
            case UInt8(ascii: "."): part = .fraction
            case UInt8(ascii: "e"), UInt8(ascii: "E"): part = .exponent
            case UInt8(ascii: "+"): break
            default:
                if part == .exponent {
                    exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), 1_000_000_000)
                } else {
                    digits.append(byte - UInt8(ascii: "0"))
                    if part == .fraction { scale += 1 }
                }
            }
        }
        while digits.last == 0 {
            digits.removeLast()
            scale -= 1
        }
        if digits.isEmpty { return 0 }
        let zeros = (exponentIsNegative ? -exponent : exponent) - scale
        let leading = digits.prefix { $0 == 0 }.count
        guard zeros >= 0, digits.count - leading + zeros <= 19 else { return nil }
        var value: Int64 = 0
        for digit in digits + [UInt8](repeating: 0, count: zeros) {
            let (shifted, overflowed) = value.multipliedReportingOverflow(by: 10)
            let step = negative ? -Int64(digit) : Int64(digit)
            let (sum, overflowedAgain) = shifted.addingReportingOverflow(step)
            if overflowed || overflowedAgain { return nil }
            value = sum
        }
        return value
    }

    private enum Part { case integer, fraction, exponent }

    /// The nearest double, or an infinity if the number is out of range.
    public var double: Double { Double(text) ?? .nan }
}
