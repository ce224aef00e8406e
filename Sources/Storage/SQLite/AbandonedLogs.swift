import Glibc

/// The logs of a store whose file is gone, for example after a process was killed and the file was deleted. SQLite would apply them to the
/// next file of the same name, which would then contain parts of both stores.
public enum AbandonedLogs {
    /// Returns the paths of the logs that are not empty, or nothing if the file of the store exists.
    public static func of(_ path: String) -> [String] {
        let logs = ends.map { path + $0 }.filter { StoreFile.size(of: $0) > 0 }
        // Another process may just have created the store: a store gets its file before its logs.
        var status = stat()
        return lstat(path, &status) == 0 ? [] : logs
    }

    /// Renames the logs of the store at `path` to those of `kept`, a name that does not exist.
    ///
    /// - Returns: The new paths.
    public static func keep(_ path: String, as kept: String) throws(StoreReplacement.Failure) -> [String] {
        var files: [String] = []
        for log in of(path) {
            let name = kept + log.dropFirst(path.count)
            guard rename(log, name) == 0 else { throw .failed(reason: "\(log): \(String(cString: strerror(errno)))") }
            files.append(name)
        }
        unlink(path + "-shm")
        StoreFile.syncParent(of: path)
        return files
    }

    private static let ends = ["-wal", "-journal"]
}
