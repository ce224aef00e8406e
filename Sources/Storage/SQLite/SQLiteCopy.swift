import CSQLite
import Glibc

/// Why a copy of a store was not written.
public enum StoreCopyFailure: Error, Hashable, Sendable {
    /// The file is there already.
    case exists(path: String)
    case failed(path: String, reason: String)
}

extension SQLiteDatabase {
    /// Writes the store, as it is at one moment, to a file that is not there yet. Others read and write meanwhile.
    ///
    /// The file is for this user alone. It is written under another name and gets its own when it is whole and synced, so that nobody
    /// ever finds half of it, and nothing that is there is ever written over.
    ///
    /// - Parameters:
    ///   - given: the file, in a folder that is there.
    ///   - suffix: makes the other name one that nobody else uses.
    ///   - isCancelled: asked now and then.
    ///   - note: reads something of the copied moment. It must read.
    /// - Returns: the file, from the root, its size, and what was noted; nil if it was cancelled.
    /// - Throws: `StoreCopyFailure`, `StoreError`.
    public func copy<Note>(
        to given: String, suffix: String, isCancelled: () -> Bool, noting note: (Transaction) throws -> Note
    ) throws -> (path: String, bytes: Int64, note: Note)? {
        let path = SQLiteOpening.absolute(given)
        var status = stat()
        if lstat(path, &status) == 0 { throw StoreCopyFailure.exists(path: path) }
        let draft = "\(path).\(suffix).part"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreCopyFailure.failed(path: path, reason: String(cString: strerror(errno))) }
        Glibc.close(file)
        defer {
            unlink(draft)
            unlink(draft + "-journal")
        }
        let noted = try withOneView { view -> Note? in
            let noted = try view.run(note)
            return try Self.copy(from: view.connection, to: draft, path: path, isCancelled) ? noted : nil
        }
        guard let noted else { return nil }
        try StoreFile.sync(draft) { StoreCopyFailure.failed(path: path, reason: $0) }
        guard link(draft, path) == 0 else {
            throw errno == EEXIST ? StoreCopyFailure.exists(path: path) : .failed(path: path, reason: String(cString: strerror(errno)))
        }
        StoreFile.syncParent(of: path)
        return (path, StoreFile.size(of: path), noted)
    }

    /// How many pages are copied between two looks at whether anybody still wants the copy.
    private static let pagesAtOnce: Int32 = 2_000

    private static func copy(from source: SQLiteConnection, to draft: String, path: String, _ isCancelled: () -> Bool) throws -> Bool {
        var target: OpaquePointer?
        defer { sqlite3_close_v2(target) }
        func failure(_ code: Int32) -> StoreCopyFailure { .failed(path: path, reason: String(cString: sqlite3_errstr(code))) }
        var code = sqlite3_open_v2(draft, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix")
        // A draft that is not finished is thrown away, and a finished one is synced at once.
        if code == SQLITE_OK { code = sqlite3_exec(target, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil) }
        guard code == SQLITE_OK else { throw failure(code) }
        guard let backup = sqlite3_backup_init(target, "main", source.handle, "main") else { throw failure(sqlite3_errcode(target)) }
        repeat { code = sqlite3_backup_step(backup, pagesAtOnce) } while code == SQLITE_OK && !isCancelled()
        let end = sqlite3_backup_finish(backup)
        if code == SQLITE_OK { return false }
        guard code == SQLITE_DONE, end == SQLITE_OK else { throw failure(code == SQLITE_DONE ? end : code) }
        return true
    }
}
