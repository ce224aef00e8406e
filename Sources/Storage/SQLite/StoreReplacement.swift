import CSQLite
import Glibc

/// Puts a store in the place of another one that no process uses.
public enum StoreReplacement {
    /// The reason a store was not replaced. It is unchanged.
    public enum Failure: Error, Sendable {
        case inUse
        case failed(reason: String)
    }

    /// Gives `draft` the name `path`, and the store that had it the name `kept`. The name `path` belongs to one of the two at any time.
    ///
    /// - Parameters:
    ///   - path: The store to replace.
    ///   - draft: A complete and closed store in the same directory.
    ///   - kept: A name that does not exist.
    /// - Returns: The files that the replaced store has now.
    public static func replace(_ path: String, by draft: String, keeping kept: String) throws(Failure) -> [String] {
        let lock = try Lock(path)
        defer { lock.release() }
        guard link(path, kept) == 0 else { throw .failed(reason: "\(kept): \(String(cString: strerror(errno)))") }
        var files = [kept]
        // A healthy store has no log file after `Lock`. That of a damaged store must not be applied to the new store.
        if rename(path + "-wal", kept + "-wal") == 0 { files.append(kept + "-wal") }
        unlink(path + "-shm")
        guard rename(draft, path) == 0 else {
            let reason = String(cString: strerror(errno))
            if files.count > 1 { rename(kept + "-wal", path + "-wal") }
            unlink(kept)
            throw .failed(reason: reason)
        }
        StoreFile.syncParent(of: path)
        return files
    }

    /// The exclusive lock of a store.
    private struct Lock {
        private let handle: OpaquePointer?
        private let descriptor: Int32

        init(_ path: String) throws(Failure) {
            var handle: OpaquePointer?
            var code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix")
            // Leaving the write-ahead log takes all of it into the file, and needs that no other connection is open.
            if code == SQLITE_OK { code = sqlite3_exec(handle, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE", nil, nil, nil) }
            switch code & 0xFF {
            case SQLITE_OK:
                (self.handle, descriptor) = (handle, -1)
                return
            case SQLITE_BUSY, SQLITE_LOCKED:
                sqlite3_close_v2(handle)
                throw .inUse
            case SQLITE_CORRUPT, SQLITE_NOTADB:
                sqlite3_close_v2(handle)
            default:
                let reason = String(cString: sqlite3_errstr(code))
                sqlite3_close_v2(handle)
                throw .failed(reason: reason)
            }
            // SQLite cannot lock a damaged file; its locks are on these bytes of it (file format of SQLite, section 1.4).
            self.handle = nil
            descriptor = open(path, O_RDWR | O_CLOEXEC)
            var bytes = flock()
            (bytes.l_type, bytes.l_whence, bytes.l_start, bytes.l_len) = (Int16(F_WRLCK), Int16(SEEK_SET), 0x4000_0000, 512)
            guard descriptor >= 0, fcntl(descriptor, F_SETLK, &bytes) == 0 else {
                let code = errno
                close(descriptor)
                if code == EAGAIN || code == EACCES { throw .inUse }
                throw .failed(reason: String(cString: strerror(code)))
            }
        }

        func release() {
            sqlite3_close_v2(handle)
            if descriptor >= 0 { close(descriptor) }
        }
    }
}
