import CSQLite
import Glibc

/// Maps the result codes of SQLite to errors of the store.
enum SQLiteFailure {
    /// - Parameters:
    ///   - code: An extended result code other than OK, ROW and DONE.
    ///   - handle: The connection that just returned the code.
    static func storeError(_ code: Int32, of handle: OpaquePointer, path: String) -> StoreError {
        let reason = String(cString: sqlite3_errmsg(handle))
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy
        case SQLITE_READONLY, SQLITE_PERM: return .readOnly(reason: reason)
        case SQLITE_FULL: return .full
        case SQLITE_CORRUPT: return .corrupt(reason: reason)
        case SQLITE_NOTADB: return .notAStore(path: path)
        case SQLITE_CANTOPEN: return cannotOpen(reason, sqlite3_system_errno(handle), path)
        case SQLITE_IOERR: return brokenDisk(code, reason, sqlite3_system_errno(handle))
        case SQLITE_NOMEM: return .failed(reason: "SQLite is out of memory")
        default: return .failed(reason: "\(reason) (SQLite \(code))")
        }
    }

    /// SQLite needs two files next to the database, even for reading.
    private static func cannotOpen(_ reason: String, _ number: Int32, _ path: String) -> StoreError {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        if number == EACCES || number == EROFS || number == EPERM || access(folder, W_OK) != 0 {
            return .readOnly(reason: "SQLite requires two additional files next to \(path), which this user cannot write")
        }
        return .cannotOpen(path: path, reason: number == 0 ? reason : "\(reason): \(String(cString: strerror(number)))")
    }

    private static func brokenDisk(_ code: Int32, _ reason: String, _ number: Int32) -> StoreError {
        // SQLITE_IOERR_WRITE, _FSYNC, _DIR_FSYNC, _TRUNCATE, _SHMSIZE: macros that Swift cannot import. Above a file size limit, SQLite
        // reports no system error.
        let isWriting = [3, 4, 5, 6, 19].contains(code >> 8)
        switch number {
        case ENOSPC, EDQUOT, EFBIG: return .full
        case 0 where isWriting: return .full
        case 0: return .corrupt(reason: "\(reason) (SQLite \(code))")
        default: return .corrupt(reason: "\(reason) (SQLite \(code)): \(String(cString: strerror(number)))")
        }
    }
}
