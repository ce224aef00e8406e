import CSQLite
import Glibc

/// The reason a copy of a store was not written.
public enum StoreCopyFailure: Error, Hashable, Sendable {
    /// The file already exists.
    case exists(path: String)
    case failed(path: String, reason: String)
}

extension SQLiteDatabase {
    /// Writes the store, in its state at one moment, to a new file. Other reads and writes continue during the copy.
    ///
    /// Only the current user can access the file. It is written under a temporary name and gets its final name when it is complete and
    /// synced. An incomplete copy is therefore never visible, and existing files are never overwritten.
    ///
    /// - Parameters:
    ///   - given: The path of the file. The directory must exist.
    ///   - suffix: A unique suffix for the temporary name.
    ///   - isCancelled: Returns whether to stop; called periodically.
    ///   - progress: Receives the number of pages that are copied and the number of all pages.
    ///   - note: Reads additional data from the copied state. It must read at least once, because the first read fixes that state.
    /// - Returns: The absolute path of the file, its size in bytes, and the result of `note`; `nil` if the copy was canceled.
    /// - Throws: `StoreCopyFailure`, `StoreError`.
    public func copy<Note>(
        to given: String, suffix: String, isCancelled: () -> Bool, progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in },
        noting note: (Transaction) throws -> Note
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
            let isComplete = try Self.copy(from: view.connection, to: draft, path: path) { done, total in
                progress(done, total)
                return isCancelled()
            }
            return isComplete ? noted : nil
        }
        guard let noted else { return nil }
        return (path, try Self.publish(draft, as: path).bytes, noted)
    }

    /// Gives a complete and closed store its final name. An existing file is never overwritten. The draft keeps its name too.
    ///
    /// - Returns: The absolute path of the file and its size in bytes.
    /// - Throws: `StoreCopyFailure`.
    public static func publish(_ draft: String, as given: String) throws -> (path: String, bytes: Int64) {
        let path = SQLiteOpening.absolute(given)
        try StoreFile.sync(draft) { StoreCopyFailure.failed(path: path, reason: $0) }
        guard link(draft, path) == 0 else {
            throw errno == EEXIST ? StoreCopyFailure.exists(path: path) : .failed(path: path, reason: String(cString: strerror(errno)))
        }
        StoreFile.syncParent(of: path)
        return (path, StoreFile.size(of: path))
    }

    /// The number of pages to copy between two calls of `isCancelled` and of `progress`.
    private static let pagesAtOnce: Int32 = 2_000

    private static func copy(
        from source: SQLiteConnection, to draft: String, path: String, _ stopsAfter: (_ done: Int64, _ total: Int64) -> Bool
    ) throws -> Bool {
        var target: OpaquePointer?
        defer { sqlite3_close_v2(target) }
        func failure(_ code: Int32) -> StoreCopyFailure { .failed(path: path, reason: String(cString: sqlite3_errstr(code))) }
        var code = sqlite3_open_v2(draft, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix")
        // Neither a journal nor syncs are necessary: an incomplete draft is deleted, and a complete one is synced immediately.
        if code == SQLITE_OK { code = sqlite3_exec(target, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil) }
        guard code == SQLITE_OK else { throw failure(code) }
        guard let backup = sqlite3_backup_init(target, "main", source.handle, "main") else { throw failure(sqlite3_errcode(target)) }
        func stops() -> Bool {
            let total = Int64(sqlite3_backup_pagecount(backup))
            return stopsAfter(total - Int64(sqlite3_backup_remaining(backup)), total)
        }
        repeat { code = sqlite3_backup_step(backup, pagesAtOnce) } while code == SQLITE_OK && !stops()
        let end = sqlite3_backup_finish(backup)
        if code == SQLITE_OK { return false }
        guard code == SQLITE_DONE, end == SQLITE_OK else { throw failure(code == SQLITE_DONE ? end : code) }
        return true
    }
}
