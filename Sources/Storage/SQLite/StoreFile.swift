import Glibc

/// The file of a store before SQLite opens it. Afterwards nobody else may open or close it: that would drop SQLite's locks.
enum StoreFile {
    /// Makes the folders (0700) and the file (0600) where they are missing.
    ///
    /// - Throws: `StoreError.cannotOpen`, `StoreError.readOnly`.
    static func prepare(_ path: String) throws {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { throw StoreError.cannotOpen(path: path, reason: "it is a folder") }
            if access(path, R_OK) != 0 { throw StoreError.cannotOpen(path: path, reason: "this user may not read it") }
            // SQLite takes a file that is shorter than its header for a new one, and would write over it.
            if 1..<512 ~= status.st_size { throw StoreError.notAStore(path: path) }
            return
        }
        guard errno == ENOENT else { throw StoreError.cannotOpen(path: path, reason: String(cString: strerror(errno))) }
        try makeFolders(of: path)
        let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if file >= 0 {
            Glibc.close(file)
        } else if errno == EROFS || errno == EACCES {
            throw StoreError.readOnly(reason: "\(path) cannot be made: \(String(cString: strerror(errno)))")
        } else if errno != EEXIST {
            throw StoreError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
    }

    private static func makeFolders(of path: String) throws {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let folder = String(path[..<slash])
        var status = stat()
        if stat(folder, &status) == 0 { return }
        try makeFolders(of: folder)
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw StoreError.cannotOpen(path: path, reason: "the folder \(folder) cannot be made: \(String(cString: strerror(errno)))")
        }
    }
}
