import CSQLite
import Glibc
import Platform

/// An empty store of one schema version in the format of SQLite files. A store in memory starts from it, which takes a tenth of the time of
/// the migrations.
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

    /// Fills an empty database with the image. No other connection may use the database.
    ///
    /// - Throws: `StoreError`.
    func load(into connection: SQLiteConnection) throws {
        let bytes = parts.withUTF8Buffer { Base64.decode(String(decoding: $0, as: UTF8.self)) } ?? []
        func number(at place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        let size = number(at: 0)
        guard let file = sqlite3_malloc64(UInt64(size)) else { throw StoreError.failed(reason: "out of memory") }
        memset(file, 0, size)
        var place = 4
        while place < bytes.count {
            let (offset, count) = (number(at: place), number(at: place + 4))
            bytes.withUnsafeBytes { _ = memcpy(file + offset, $0.baseAddress! + place + 8, count) }
            place += 8 + count
        }
        var source: OpaquePointer?
        defer { sqlite3_close_v2(source) }
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE)
        guard sqlite3_open_v2(":memory:", &source, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
            sqlite3_free(file)
            throw StoreError.failed(reason: "out of memory")
        }
        // The database owns the bytes from now on, also if this fails.
        guard
            sqlite3_deserialize(source, "main", file.assumingMemoryBound(to: UInt8.self), Int64(size), Int64(size), flags) == SQLITE_OK,
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
