import Glibc

/// The file of a store before SQLite opens it. Afterwards nobody else may open or close it: that would drop SQLite's locks.
enum StoreFile {
    /// Makes the file (0600), if it may, and its folders (0700), if it may, where they are missing. Never opens the file, since another store of this
    /// process may have it open.
    ///
    /// - Throws: `StoreError.cannotOpen`, `.readOnly`, `.notAStore`, `.full`.
    static func prepare(_ path: String, makesFile: Bool, makesFolders: Bool) throws(StoreError) {
        switch try kind(path) {
        case .file: return
        case .other(let what): throw .cannotOpen(path: path, reason: what)
        case .nothing: break
        }
        guard makesFile else { throw .cannotOpen(path: path, reason: "the store does not exist; mintmark serve creates it") }
        if makesFolders { try makeFolders(of: path) }
        // Makes a file without opening it, and says so if somebody else just did.
        if mknod(path, S_IFREG | 0o600, 0) == 0 { return }
        switch errno {
        case EROFS, EACCES: throw .readOnly(reason: "\(path) cannot be created: \(String(cString: strerror(errno)))")
        case EEXIST:
            if case .file = try kind(path) { return }
            throw .cannotOpen(path: path, reason: "it is a broken symbolic link")
        case ENOSPC, EDQUOT: throw .full
        case ENOENT:
            let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
            throw .cannotOpen(path: path, reason: "the directory \(folder) does not exist; create it first")
        default: throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
    }

    /// What tells a file from another one that has taken its place.
    struct Identity: Equatable {
        private let device: dev_t
        private let number: ino_t

        /// Nil if there is no file.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    private enum Kind {
        case nothing
        case file
        case other(String)
    }

    private static func kind(_ path: String) throws(StoreError) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return .nothing }
            throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            // SQLite takes a file that is shorter than its header for a new one, and would write over it.
            if 1..<512 ~= status.st_size { throw .notAStore(path: path) }
            return access(path, R_OK) == 0 ? .file : .other("this user cannot read it")
        case S_IFDIR: return .other("it is a directory")
        default: return .other("it is not a regular file")
        }
    }

    private static func makeFolders(of path: String) throws(StoreError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let folder = String(path[..<slash])
        var status = stat()
        if stat(folder, &status) == 0 { return }
        try makeFolders(of: folder)
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            let reason = "the directory \(folder) cannot be created: \(String(cString: strerror(errno)))"
            throw errno == EROFS || errno == EACCES ? .readOnly(reason: reason) : .cannotOpen(path: path, reason: reason)
        }
        syncParent(of: folder)
    }

    /// A file or folder that is lost in a power failure takes what was answered with it.
    static func syncParent(of path: String) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Syncs a file that no connection has open.
    static func sync<Failure: Error>(_ path: String, _ failure: (_ reason: String) -> Failure) throws(Failure) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw failure(String(cString: strerror(errno))) }
    }

    /// The size in bytes, 0 where there is no file.
    static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
