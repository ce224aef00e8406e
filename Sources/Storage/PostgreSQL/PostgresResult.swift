import CPostgres
import Platform

/// The result of a statement: all rows, in binary format.
final class PostgresResult: RowSource {
    private let handle: OpaquePointer
    let rowCount: Int
    /// The index of the current row.
    var row = 0

    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = Int(pq_row_count(handle))
    }

    deinit { pq_clear(handle) }

    // MARK: The statement

    /// The SQLSTATE and the message of an error, or `nil` if the result is not an error.
    var failure: (state: String?, reason: String)? {
        guard pq_result_status(handle) == PQ_FATAL_ERROR else { return nil }
        let state = pq_result_field(handle, PQ_FIELD_SQLSTATE).map { String(cString: $0) }
        return (state, pq_result_field(handle, PQ_FIELD_MESSAGE).map { String(cString: $0) } ?? "the connection was lost")
    }

    /// Whether the server waits for the rows of a `COPY`.
    var isCopyIn: Bool { pq_result_status(handle) == PQ_COPY_IN }

    /// The command that ran: `SELECT`, `COMMIT` and so on.
    var command: String { String(String(cString: pq_command_status(handle)).prefix { $0 != " " }) }

    /// The number of rows that were inserted, updated or deleted.
    var changes: Int { command == "SELECT" ? 0 : Int(String(cString: pq_command_rows(handle))) ?? 0 }

    /// The parameter types of a described statement.
    var parameterTypes: [pq_oid] { (0..<pq_parameter_count(handle)).map { pq_parameter_type(handle, $0) } }

    // MARK: Current row

    func isNull(_ column: Int) -> Bool { pq_is_null(handle, Int32(row), Int32(column)) }

    private func value(_ column: Int) -> UnsafeRawBufferPointer {
        let count = Int(pq_length(handle, Int32(row), Int32(column)))
        return UnsafeRawBufferPointer(start: pq_value(handle, Int32(row), Int32(column)), count: count)
    }

    private func type(_ column: Int) -> pq_oid { pq_column_type(handle, Int32(column)) }

    func bytes(_ column: Int) -> [UInt8] { [UInt8](value(column)) }

    func string(_ column: Int) -> String {
        switch type(column) {
        case PQ_TYPE_INT8, PQ_TYPE_INT4, PQ_TYPE_INT2, PQ_TYPE_NUMERIC:
            isNull(column) ? "" : String(int(column))
        default: String(decoding: value(column), as: UTF8.self)
        }
    }

    func int(_ column: Int) -> Int64 {
        let bytes = value(column)
        switch type(column) {
        case PQ_TYPE_NUMERIC: return Self.wholeNumber(bytes)
        case PQ_TYPE_TEXT: return Int64(String(decoding: bytes, as: UTF8.self)) ?? 0
        default:
            // Integers of any width and Booleans: two's complement, big-endian.
            guard let first = bytes.first, bytes.count <= 8 else { return 0 }
            return bytes.reduce(first >= 0x80 && bytes.count > 1 ? -1 : 0) { $0 << 8 | Int64($1) }
        }
    }

    /// Decodes a NUMERIC, which is the type of a sum of BIGINTs: the number of digits, the weight of the first digit, the sign, and the
    /// digits in base 10,000.
    private static func wholeNumber(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        func word(_ index: Int) -> Int64 { Int64(Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self))) }
        guard bytes.count >= 8, bytes.count >= 8 + 2 * Int(word(0)) else { return 0 }
        var number: Int64 = 0
        for place in 0...max(0, word(1)) where word(1) >= 0 {
            number = number &* 10_000 &- (place < word(0) ? word(4 + Int(place)) : 0)
        }
        return word(2) == 0x4000 ? number : 0 &- number
    }
}
