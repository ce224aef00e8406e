import Platform

/// A value of a condition, parsed for its operator.
enum PolicyOperand: Hashable, Sendable {
    case text(PolicyText)
    case number(Double)
    /// A time, in seconds since 1970-01-01 UTC.
    case date(Int64)
    case truth(Bool)
    case bytes([UInt8])
    case range(NetworkRange)
    /// The six parts of an ARN. The last part contains all further colons.
    case arn([PolicyText])

    /// - Throws: `PolicyMalformed` if the value is not valid for the operator.
    init(_ value: String, for op: PolicyOperator, variables: Bool, _ pointer: String) throws {
        func malformed(_ what: String) -> PolicyMalformed {
            PolicyMalformed(pointer: pointer, reason: "\(op.rawValue) requires \(what); \"\(value)\" is not valid")
        }
        switch op.comparison {
        case .text:
            self = .text(try PolicyText(value, wildcards: op.hasWildcards, variables: variables, pointer))
        case .arn:
            let parts = Self.arnParts(value)
            guard parts.count == 6, parts[0] == "arn" || parts[0] == "*" else {
                throw malformed("an ARN of six parts, such as arn:aws:iam::*:role/x")
            }
            self = .arn(try parts.map { try PolicyText($0, wildcards: true, variables: variables, pointer) })
        case .number:
            guard let number = Self.number(value) else { throw malformed("a number") }
            self = .number(number)
        case .date:
            guard let date = PolicyDate.seconds(value) else {
                throw malformed("a time such as 2026-11-21T12:00:00Z, or seconds since 1970")
            }
            self = .date(date)
        case .bytes:
            guard let bytes = Base64.decode(value) else { throw malformed("bytes in base64") }
            self = .bytes(bytes)
        case .address:
            guard let range = NetworkRange(value) else {
                throw malformed("an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32")
            }
            self = .range(range)
        case .truth, .presence:
            guard let truth = Self.truth(value) else { throw malformed("\"true\" or \"false\"") }
            self = .truth(truth)
        }
    }

    /// The value as text.
    var text: String {
        switch self {
        case .text(let text): text.text
        case .number(let number): number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
        case .date(let date): PolicyDate.text(date)
        case .truth(let truth): truth ? "true" : "false"
        case .bytes(let bytes): Base64.encode(bytes)
        case .range(let range): range.text
        case .arn(let parts): parts.map(\.text).joined(separator: ":")
        }
    }

    /// Returns whether a value of the request matches this one. A value that cannot be parsed does not match.
    func matches(_ value: String, _ comparison: PolicyOperator.Comparison, in context: PolicyContext) -> Bool {
        switch (self, comparison) {
        case (.text(let text), .text(let ignoringCase)): return text.matches(value, in: context, ignoringCase: ignoringCase)
        case (.arn(let patterns), .arn):
            let parts = Self.arnParts(value)
            return parts.count == 6 && zip(patterns, parts).allSatisfy { $0.matches($1, in: context) }
        case (.number(let bound), .number(let relation)): return Self.number(value).map { relation.holds($0, bound) } ?? false
        case (.date(let bound), .date(let relation)): return PolicyDate.seconds(value).map { relation.holds($0, bound) } ?? false
        case (.truth(let truth), .truth): return Self.truth(value) == truth
        case (.bytes(let bytes), .bytes): return value.utf8.elementsEqual(bytes)
        case (.range(let range), .address): return NetworkAddress(value).map(range.contains) ?? false
        default: return false
        }
    }

    private static func arnParts(_ text: String) -> [String] {
        text.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false).map { String($0) }
    }

    private static func number(_ text: String) -> Double? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || "+-.eE".utf8.contains($0) }) else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    private static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true": true
        case "false": false
        default: nil
        }
    }
}

/// The time formats of policies.
package enum PolicyDate {
    /// Formats seconds since 1970-01-01 UTC as `2026-11-21T12:00:00Z`.
    package static func text(_ seconds: Int64) -> String {
        let digits = Array(AmzDate.text(seconds).utf8)
        let parts = [digits[0..<4], digits[4..<6], digits[6..<11], digits[11..<13], digits[13...]]
        let separators: [[UInt8]] = ["-", "-", ":", ":", ""].map { Array($0.utf8) }
        return String(decoding: zip(parts, separators).flatMap { $0 + $1 }, as: UTF8.self)
    }

    /// Parses `2026-11-21`, `2026-11-21T12:00:00Z`, the same with an offset such as `+01:00`, or seconds. Returns seconds since 1970-01-01
    /// UTC, or `nil` for any other text.
    static func seconds(_ text: String) -> Int64? {
        if let seconds = Int64(text) { return seconds }
        let bytes = Array(text.utf8)
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        let day = String(decoding: bytes[0..<4] + bytes[5..<7] + bytes[8..<10], as: UTF8.self)
        if bytes.count == 10 { return AmzDate.seconds("\(day)T000000Z") }
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":") else {
            return nil
        }
        let clock = String(decoding: bytes[11..<13] + bytes[14..<16] + bytes[17..<19], as: UTF8.self)
        guard let local = AmzDate.seconds("\(day)T\(clock)Z") else { return nil }
        if bytes[19...] == [UInt8(ascii: "Z")] { return local }
        guard bytes.count == 25, bytes[22] == UInt8(ascii: ":"), [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[19]),
            let ahead = AmzDate.seconds("19700101T" + String(decoding: bytes[20..<22] + bytes[23..<25], as: UTF8.self) + "00Z")
        else { return nil }
        return bytes[19] == UInt8(ascii: "+") ? local - ahead : local + ahead
    }
}
