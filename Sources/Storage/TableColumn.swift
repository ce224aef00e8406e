/// A column of a table, with the properties required to copy its rows.
public struct TableColumn: Hashable, Sendable {
    /// The type of a column. Every column of the store has one of these types.
    public enum Kind: String, Sendable { case text, integer, bool, bytes }

    public let name: String
    public let kind: Kind

    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// - Parameter type: The type in the table definition, or the name of the type in PostgreSQL.
    init(name: String, type: String) {
        let kind: Kind =
            switch type.uppercased() {
            case "BIGINT", "INT8": .integer
            case "BOOLEAN", "BOOL": .bool
            case "BYTEA": .bytes
            default: .text
            }
        self.init(name: name, kind: kind)
    }

    func value(of row: Row, _ position: Int) -> SQLParameter {
        if row.isNull(position) { return .null }
        return switch kind {
        case .text: .text(row.string(position))
        case .integer: .integer(row.int(position))
        case .bool: .bool(row.bool(position))
        case .bytes: .bytes(row.bytes(position))
        }
    }
}

extension SQLParameter: SQLValue { public var sqlParameter: SQLParameter { self } }

extension [TableColumn] {
    var names: String { map { quoted($0.name) }.joined(separator: ", ") }
    var places: String { indices.map { "$\($0 + 1)" }.joined(separator: ", ") }
}

/// Returns a name as a quoted SQL identifier.
func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
