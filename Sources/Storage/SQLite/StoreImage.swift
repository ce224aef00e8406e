import CSQLite
import Glibc
import Platform

/// An empty store of one schema version in the format of SQLite files. A new store starts from it, which takes a tenth of the time of the
/// migrations.
public struct StoreImage: Sendable {
    /// The schema version.
    public let version: Int
    /// The parts of the file that are not zero, in Base64: the size of the file, then for each part its offset, its length and its bytes.
    /// Numbers have 4 bytes, the highest first.
    public let parts: StaticString

    public init(version: Int, parts: StaticString) {
        self.version = version
        self.parts = parts
    }

    /// Returns the parts of a file.
    package static func parts(of file: [UInt8]) -> String {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        var bytes = number(file.count)
        var start = 0
        while let first = file[start...].firstIndex(where: { $0 != 0 }) {
            // A part ends before eight zeros, the size of its own header.
            var end = first
            while end < file.count, file[end..<min(end + 8, file.count)].contains(where: { $0 != 0 }) { end += 1 }
            bytes += number(first) + number(end - first) + file[first..<end]
            start = end
        }
        return Base64.encode(bytes)
    }

    /// Returns the content of the file.
    ///
    /// - Parameter usesLog: Whether the file has a write-ahead log. A database in memory cannot have one.
    func content(usesLog: Bool) -> [UInt8] {
        let bytes = parts.withUTF8Buffer { Base64.decode(String(decoding: $0, as: UTF8.self)) } ?? []
        func number(at place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        var file = [UInt8](repeating: 0, count: number(at: 0))
        var place = 4
        while place < bytes.count {
            let (offset, count) = (number(at: place), number(at: place + 4))
            file.withUnsafeMutableBytes { $0[offset..<offset + count].copyBytes(from: bytes[place + 8..<place + 8 + count]) }
            place += 8 + count
        }
        // The versions for writing and reading (file format of SQLite, section 1.3.3).
        for place in 18...19 { file[place] = usesLog ? 2 : 1 }
        return file
    }

    /// Fills an empty database with the image. No other connection may use the database.
    ///
    /// - Throws: `StoreError`.
    func load(into connection: SQLiteConnection) throws {
        var file = content(usesLog: false)
        try file.withUnsafeMutableBytes { try Self.copy($0, into: connection) }
    }

    private static func copy(_ file: UnsafeMutableRawBufferPointer, into connection: SQLiteConnection) throws {
        var source: OpaquePointer?
        defer { sqlite3_close_v2(source) }
        let (bytes, size) = (file.baseAddress?.assumingMemoryBound(to: UInt8.self), Int64(file.count))
        guard sqlite3_open_v2(":memory:", &source, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
            throw StoreError.failed(reason: "out of memory")
        }
        guard
            sqlite3_deserialize(source, "main", bytes, size, size, UInt32(SQLITE_DESERIALIZE_READONLY)) == SQLITE_OK,
            let backup = sqlite3_backup_init(connection.handle, "main", source, "main")
        else { throw StoreError.failed(reason: "the initial content of the store cannot be read") }
        let step = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE, end == SQLITE_OK else {
            throw StoreError.failed(reason: "the initial content of the store cannot be copied (SQLite \(step))")
        }
    }
}

extension SQLiteConnection {
    /// Returns the content of the database as a file.
    func serialized() -> [UInt8] {
        var size: Int64 = 0
        guard let bytes = sqlite3_serialize(handle, "main", &size, 0) else { return [] }
        defer { sqlite3_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
    }
}
