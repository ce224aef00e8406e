/// The reason and position at which a text is not valid JSON (RFC 8259).
public struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of syntax error.
    public enum Reason: String, Hashable, Sendable {
        case empty = "there is no value"
        case unexpectedByte = "unexpected byte"
        case unexpectedEnd = "the text ends in the middle of a value"
        case trailingBytes = "unexpected data after the value"
        case trailingComma = "a comma must be followed by another member or element"
        case invalidLiteral = "only true, false and null are literals"
        case invalidNumber = "the number is not valid"
        case controlCharacter = "a control character in a string must be escaped"
        case invalidEscape = "the escape sequence is not valid"
        case loneSurrogate = "a surrogate is not part of a pair"
        case invalidUTF8 = "the bytes are not valid UTF-8"
        case duplicateName = "an object contains a duplicate member"
        case tooDeep = "arrays and objects are nested too deeply"
        case tooLong = "the text is too long"
    }

    public let reason: Reason
    /// The position of the error, in bytes from 0.
    public let offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "\(reason.rawValue) (at byte \(offset))" }
}
