/// Why a text is not JSON (RFC 8259), and where.
public struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found.
    public enum Reason: String, Hashable, Sendable {
        case empty = "there is no value"
        case unexpectedByte = "this byte cannot stand here"
        case unexpectedEnd = "the text ends in the middle of a value"
        case trailingBytes = "something follows the value"
        case trailingComma = "a comma must be followed by another member or element"
        case invalidLiteral = "only true, false and null are literals"
        case invalidNumber = "this is not a number as JSON writes it"
        case controlCharacter = "a control character in a string must be escaped"
        case invalidEscape = "this is not an escape that JSON knows"
        case loneSurrogate = "half of a surrogate pair stands alone"
        case invalidUTF8 = "the bytes are not UTF-8"
        case duplicateName = "a name stands twice in one object"
        case tooDeep = "arrays and objects are nested too deeply"
        case tooLong = "the text is too long"
    }

    public let reason: Reason
    /// The offset in bytes at which it was found, from 0.
    public let offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "\(reason.rawValue) (at byte \(offset))" }
}
