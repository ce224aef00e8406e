import Glibc

/// The file of a store in a place that this user cannot write, such as a backup on a read-only medium.
///
/// SQLite reads a file with a write-ahead log only if it can create two additional files next to it, unless the file is declared as
/// immutable. That is safe because no process uses this file: a process would have created those files.
struct ReadOnlyFile {
    /// The file as a URI for SQLite, which declares it as immutable.
    let uri: String
    /// The reason the file cannot be written.
    let reason: String

    /// Returns `nil` if the user can write the file and its folder, or if SQLite must read a log next to the file.
    init?(_ path: String) {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let path = String(cString: resolved)
        let folder = StoreFile.parent(of: path)
        if let failure = Self.failure(path) {
            reason = "the file cannot be written (\(failure))"
        } else if let failure = Self.failure(folder) {
            reason = "the folder \(folder) cannot be written (\(failure))"
        } else {
            return nil
        }
        // SQLite can read a log and its index that exist, and they can belong to a process of another user.
        let hasLog = StoreFile.size(of: path + "-wal") > 0 || StoreFile.size(of: path + "-journal") > 0
        let isOpenElsewhere = access(path + "-wal", F_OK) == 0 && access(path + "-shm", F_OK) == 0
        guard !hasLog, !isOpenElsewhere else { return nil }
        uri = "file:\(Self.escaped(path))?immutable=1"
    }

    private static func failure(_ path: String) -> String? {
        access(path, W_OK) == 0 ? nil : String(cString: strerror(errno))
    }

    /// Escapes the characters that have a meaning in a URI (RFC 3986, section 3.3), and everything outside ASCII.
    private static func escaped(_ path: String) -> String {
        var text = ""
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return text
    }
}
