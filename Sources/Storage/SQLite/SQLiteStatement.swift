import CSQLite
import Glibc

/// A prepared statement. SQLite treats `$1` as a name, so the position of each parameter is looked up once.
final class SQLiteStatement: RowSource {
    let handle: OpaquePointer
    let isReadOnly: Bool
    /// Whether its rows are being read.
    private(set) var isRunning = false
    /// Whether SQLite had no memory for a value of the current row. It then returns the value as if it were NULL.
    private(set) var lacksMemory = false
    private let positions: [Int32]
    /// The bound texts and blobs while the statement runs. SQLite reads them there instead of copying each.
    private var space = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 1)
    private var used = 0
    /// Earlier spaces of the running statement that were too small, with their used bytes.
    private var filled: [(space: UnsafeMutableRawBufferPointer, used: Int)] = []
    private static let mostKept = 16 * 1024

    /// - Throws: `StoreError.failed` if the parameters are not exactly `$1` to `$n`.
    init(_ handle: OpaquePointer) throws(StoreError) {
        self.handle = handle
        isReadOnly = sqlite3_stmt_readonly(handle) != 0
        let count = sqlite3_bind_parameter_count(handle)
        positions = count == 0 ? [] : (1...count).map { sqlite3_bind_parameter_index(handle, "$\($0)") }
        if positions.contains(0) { throw .failed(reason: "the parameters of a statement are not $1 to $\(count): \(text)") }
    }

    deinit {
        sqlite3_finalize(handle)
        space.deallocate()
    }

    private var text: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    // MARK: Running

    /// - Throws: `StoreError.failed` if the number of values differs from the number of parameters.
    func begin(_ values: [any SQLValue]) throws(StoreError) {
        guard values.count == positions.count else {
            throw .failed(reason: "a statement with \(positions.count) parameters received \(values.count) values: \(text)")
        }
        for index in positions.indices {
            let code = bind(values[index].sqlParameter, at: positions[index])
            if code != SQLITE_OK {
                end()
                throw .failed(reason: "a value for \(text) cannot be bound (SQLite \(code))")
            }
        }
        isRunning = true
        lacksMemory = false
    }

    /// Resets the statement and erases the bound values, which can be secrets.
    func end() {
        sqlite3_reset(handle)
        if !positions.isEmpty { sqlite3_clear_bindings(handle) }
        if used > 0 { memset(space.baseAddress!, 0, used) }
        used = 0
        for each in filled {
            memset(each.space.baseAddress!, 0, each.used)
            each.space.deallocate()
        }
        if !filled.isEmpty { filled = [] }
        if space.count > Self.mostKept {
            space.deallocate()
            space = .allocate(byteCount: 256, alignment: 1)
        }
        isRunning = false
    }

    /// Copies bytes to a place that does not move while the statement runs.
    private func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
        if bytes.count > space.count - used {
            filled.append((space, used))
            space = .allocate(byteCount: max(bytes.count, space.count * 2), alignment: 1)
            used = 0
        }
        let place = UnsafeMutableRawBufferPointer(rebasing: space[used..<used + bytes.count])
        place.copyMemory(from: bytes)
        used += bytes.count
        return UnsafeRawPointer(space.baseAddress! + used - bytes.count)
    }

    private func bind(_ value: SQLParameter, at position: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, position)
        case .integer(let integer): return sqlite3_bind_int64(handle, position, integer)
        case .bool(let bool): return sqlite3_bind_int64(handle, position, bool ? 1 : 0)
        case .text(var text):
            return text.withUTF8 { utf8 in
                let kept = keep(UnsafeRawBufferPointer(utf8)).assumingMemoryBound(to: CChar.self)
                return sqlite3_bind_text64(handle, position, kept, UInt64(utf8.count), nil, UInt8(SQLITE_UTF8))
            }
        case .bytes(let bytes):
            if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, position, 0) }
            return bytes.withUnsafeBytes { sqlite3_bind_blob64(handle, position, keep($0), UInt64($0.count), nil) }
        }
    }

    // MARK: Current row

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    func int(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

    func string(_ column: Int) -> String {
        guard let text = sqlite3_column_text(handle, Int32(column)) else {
            noteMissingValue()
            return ""
        }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int) -> [UInt8] {
        guard let blob = sqlite3_column_blob(handle, Int32(column)) else {
            noteMissingValue()
            return []
        }
        return [UInt8](UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }

    /// Distinguishes NULL and an empty blob from a value for which SQLite had no memory.
    private func noteMissingValue() {
        if sqlite3_errcode(sqlite3_db_handle(handle)) == SQLITE_NOMEM { lacksMemory = true }
    }
}
