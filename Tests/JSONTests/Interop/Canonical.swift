import JSON
import Platform

/// Canonical forms of a value that can be compared between languages. The programs in `Tests/Interop` produce the
/// same forms.
enum Canonical {
    /// The value as Python reads it: exact numbers, members in the order of the text.
    static func exact(_ value: JSONValue) -> String { form(value, string: utf8, sorts: false, number: decimal) }

    /// The value as Python writes it: integers by their digits, other numbers as doubles.
    static func python(_ value: JSONValue) -> String {
        form(value, string: utf8, sorts: false) { $0.text.contains { ".eE".contains($0) } ? bits($0) : "i\($0.text)" }
    }

    /// The value as JavaScript represents it: numbers as doubles, members sorted by name.
    static func javaScript(_ value: JSONValue) -> String { form(value, string: utf16, sorts: true, number: bits) }

    private static func form(
        _ value: JSONValue, string: (String) -> String, sorts: Bool, number: (JSONNumber) -> String
    ) -> String {
        switch value {
        case .null: return "n"
        case .bool(let bool): return bool ? "t" : "f"
        case .number(let value): return number(value)
        case .string(let text): return string(text)
        case .array(let elements):
            return "[" + elements.map { form($0, string: string, sorts: sorts, number: number) + "," }.joined() + "]"
        case .object(let object):
            var members = object.members.map { (string($0.name), form($0.value, string: string, sorts: sorts, number: number)) }
            if sorts { members.sort { $0.0 < $1.0 } }
            return "{" + members.map { "\($0.0):\($0.1)," }.joined() + "}"
        }
    }

    private static func utf8(_ text: String) -> String { "s" + Hex.encode(Array(text.utf8)) }

    private static func utf16(_ text: String) -> String {
        "s" + Hex.encode(text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
    }

    private static func bits(_ number: JSONNumber) -> String {
        let bits = number.double.bitPattern
        return "d" + Hex.encode((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) })
    }

    /// The digits without leading and trailing zeros, followed by the exponent.
    private static func decimal(_ number: JSONNumber) -> String {
        let isNegative = number.text.hasPrefix("-")
        let halves = number.text.drop { $0 == "-" }.split { $0 == "e" || $0 == "E" }
        let parts = halves[0].split(separator: ".")
        let fraction = parts.count > 1 ? parts[1] : ""
        var digits = (parts[0] + fraction).drop { $0 == "0" }
        var exponent = (halves.count > 1 ? Int(halves[1])! : 0) - fraction.count
        while digits.last == "0" {
            digits.removeLast()
            exponent += 1
        }
        return "\(isNegative ? "-" : "")\(digits.isEmpty ? "0" : digits)e\(digits.isEmpty ? 0 : exponent)"
    }
}
