import Glibc
import Synchronization

/// The file of a store before SQLite opens it. Afterwards this process must not open or close the file in any other way, because that would
/// release SQLite's locks.
enum StoreFile {
    /// The kind of file to create if the file is missing.
    struct Making {
        /// Otherwise a missing file causes `StoreError.cannotOpen`.
        let makesFile: Bool
        let makesFolders: Bool
        /// The content of a new file. Defaults to an empty file.
        let image: StoreImage?
        /// A unique name.
        let id: String
    }

    /// The origin of the file that is opened.
    enum Origin {
        case file
        /// A file without content, such as one that a killed process has created or that lost its content.
        case emptyFile
        /// An empty file that this process has created.
        case made
        /// A file that this process has created from the image of a new store.
        case image
    }

    /// At most one store of this process is created at a time: closing a new file would release the locks of another store that has opened
    /// the file in the meantime.
    private static let creation = Mutex(())

    /// Creates the file (mode 0600) and its parent directories (mode 0700), if allowed and missing. Never opens an existing file, since
    /// another store of this process may have it open.
    ///
    /// - Returns: The file before this call, or the way in which this call has created it.
    /// - Throws: `StoreError.cannotOpen`, `.readOnly`, `.notAStore`, `.full`.
    static func prepare(_ path: String, _ making: Making) throws(StoreError) -> Origin {
        try creation.withLock { _ throws(StoreError) -> Origin in
            switch try kind(path) {
            case .file: return size(of: path) == 0 ? .emptyFile : .file
            case .other(let what): throw .cannotOpen(path: path, reason: what)
            case .nothing: break
            }
            if let log = AbandonedLogs.of(path).first {
                throw .cannotOpen(
                    path: path,
                    reason: "the file is missing, but its log \(log) exists. Restore a backup with mintmark restore --replace, or move "
                        + "the log to another folder")
            }
            guard making.makesFile else {
                throw .cannotOpen(path: path, reason: "the file does not exist; check the path, or create a store with mintmark serve")
            }
            if making.makesFolders { try makeFolders(of: path) }
            if let image = making.image, StoreDraft.place(image, at: path, id: making.id) { return .image }
            try makeEmpty(path)
            return .made
        }
    }

    /// Creates an empty file without opening it, unless another process has just created the file.
    private static func makeEmpty(_ path: String) throws(StoreError) {
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

    /// The identity of a file, which distinguishes it from another file that has replaced it.
    struct Identity: Equatable {
        private let device: dev_t
        private let number: ino_t

        /// Returns `nil` if the file does not exist.
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
            // SQLite treats a file that is shorter than its header as new and would overwrite it.
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

    /// Syncs the parent directory, so that a power failure does not remove the new file or directory and the committed data in it.
    static func syncParent(of path: String) {
        let descriptor = open(parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    static func parent(of path: String) -> String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

    /// Syncs a file that no connection has open.
    static func sync<Failure: Error>(_ path: String, _ failure: (_ reason: String) -> Failure) throws(Failure) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw failure(String(cString: strerror(errno))) }
    }

    /// Returns the size in bytes, or 0 if the file does not exist.
    static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
