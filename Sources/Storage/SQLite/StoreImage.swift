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

    /// Where the file says whether it has a write-ahead log: its versions for writing and for reading (file format of SQLite, section 1.3.3).
    /// A database in memory cannot have one.
    private static let versionBytes = 18...19
    private static let (withLog, withoutLog): (UInt8, UInt8) = (2, 1)

    /// Returns the content of a file with a write-ahead log.
    func content() -> [UInt8] {
        let (size, parts) = decoded()
        var file = [UInt8](repeating: 0, count: size)
        for (offset, bytes) in parts {
            file.withUnsafeMutableBytes { $0[offset..<offset + bytes.count].copyBytes(from: bytes) }
        }
        for place in Self.versionBytes { file[place] = Self.withLog }
        return file
    }

    /// Fills an empty database in memory with the image. Nothing may have read the database: its connection knows no page of it.
    ///
    /// - Throws: `StoreError`.
    func load(into connection: SQLiteConnection) throws {
        let (size, parts) = decoded()
        let file = try DatabaseFile(of: connection)
        try file.write([0], at: size - 1)
        for (offset, bytes) in parts { try file.write(bytes, at: offset) }
        for place in Self.versionBytes { try file.write([Self.withoutLog], at: place) }
    }

    /// Returns the size of the file, and its parts with their offsets.
    private func decoded() -> (size: Int, parts: [(offset: Int, bytes: ArraySlice<UInt8>)]) {
        let bytes = parts.withUTF8Buffer { Base64.decode(String(decoding: $0, as: UTF8.self)) } ?? []
        func number(at place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        var found: [(offset: Int, bytes: ArraySlice<UInt8>)] = []
        var place = 4
        while place < bytes.count {
            let (offset, count) = (number(at: place), number(at: place + 4))
            found.append((offset, bytes[place + 8..<place + 8 + count]))
            place += 8 + count
        }
        return (number(at: 0), found)
    }
}

/// The file of a database, as SQLite has opened it. What is written to it takes no memory in the cache of a connection.
private struct DatabaseFile {
    private let file: UnsafeMutablePointer<sqlite3_file>

    /// - Throws: `StoreError`.
    init(of connection: SQLiteConnection) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file else {
            throw StoreError.failed(reason: "SQLite has no file for the database")
        }
        self.file = file
    }

    /// - Throws: `StoreError`.
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws {
        let code = bytes.withUnsafeBytes { file.pointee.pMethods.pointee.xWrite(file, $0.baseAddress, Int32($0.count), Int64(offset)) }
        guard code == SQLITE_OK else {
            throw StoreError.failed(reason: "the initial content of the store cannot be written (SQLite \(code))")
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
