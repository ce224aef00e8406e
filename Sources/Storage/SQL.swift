/// The text of one statement. It can only be created from a literal, so values never become part of the text. The address of the literal is
/// the key of the prepared statement.
public struct SQL: ExpressibleByStringLiteral, Sendable {
    let text: StaticString

    public init(stringLiteral text: StaticString) { self.text = text }

    /// The highest n of the parameters `$1` to `$n`.
    var parameterCount: Int {
        text.withUTF8Buffer { bytes in
            var highest = 0
            for dollar in bytes.indices where bytes[dollar] == UInt8(ascii: "$") {
                let digits = bytes[(dollar + 1)...].prefix { (0x30...0x39).contains($0) }
                highest = max(highest, digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            }
            return highest
        }
    }
}

/// A value for a parameter `$1`, `$2`, … of a statement: text, integer, Boolean, bytes or NULL.
public protocol SQLValue: Sendable {
    var sqlParameter: SQLParameter { get }
}

public enum SQLParameter: Sendable {
    case null
    case text(String)
    case integer(Int64)
    case bool(Bool)
    case bytes([UInt8])
}

extension String: SQLValue { public var sqlParameter: SQLParameter { .text(self) } }
extension Int64: SQLValue { public var sqlParameter: SQLParameter { .integer(self) } }
extension Int: SQLValue { public var sqlParameter: SQLParameter { .integer(Int64(self)) } }
extension Bool: SQLValue { public var sqlParameter: SQLParameter { .bool(self) } }
extension [UInt8]: SQLValue { public var sqlParameter: SQLParameter { .bytes(self) } }
extension Optional: SQLValue where Wrapped: SQLValue { public var sqlParameter: SQLParameter { self?.sqlParameter ?? .null } }

/// One row of a result, valid only during the call that receives it. Columns are numbered from 0.
public struct Row {
    let source: any RowSource

    public func isNull(_ column: Int) -> Bool { source.isNull(column) }
    public func string(_ column: Int) -> String { source.string(column) }
    public func int(_ column: Int) -> Int64 { source.int(column) }
    public func bool(_ column: Int) -> Bool { source.int(column) != 0 }
    public func bytes(_ column: Int) -> [UInt8] { source.bytes(column) }
    public func optionalString(_ column: Int) -> String? { isNull(column) ? nil : string(column) }
    public func optionalInt(_ column: Int) -> Int64? { isNull(column) ? nil : int(column) }
    public func optionalBytes(_ column: Int) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
}

/// The source of the columns of a row: a statement of a driver.
protocol RowSource: AnyObject {
    func isNull(_ column: Int) -> Bool
    func string(_ column: Int) -> String
    func int(_ column: Int) -> Int64
    func bytes(_ column: Int) -> [UInt8]
}
