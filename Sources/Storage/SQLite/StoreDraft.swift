import Glibc

/// The file of a new store before it has its name. The content of an empty store is written and synced first; then the file gets its name.
/// Whenever the process ends, the name therefore belongs to no file or to a complete store.
enum StoreDraft {
    /// Creates the store from `image`, unless the name exists. If anything prevents this, such as a full disk or a file system without
    /// hard links, the caller creates the store in another way, which reports the error.
    ///
    /// - Parameter id: A unique name.
    /// - Returns: Whether the file exists and this call has created it.
    static func place(_ image: StoreImage, at path: String, id: String) -> Bool {
        // "/proc" is the only way to name an unnamed file without privileges.
        if let file = unnamed(in: StoreFile.parent(of: path)) {
            defer { close(file) }
            guard fill(file, image) else { return false }
            return linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 && isKept(path)
        }
        let draft = "\(path).\(id).part"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { unlink(draft) }
        let isComplete = fill(file, image)
        close(file)
        return isComplete && link(draft, path) == 0 && isKept(path)
    }

    /// Opens a new file without a name, which disappears with the process. Returns `nil` if the file system has none.
    private static func unnamed(in folder: String) -> Int32? {
        let temporary = O_DIRECTORY | 0o20_000_000  // O_TMPFILE, which Swift does not import
        let file = open(folder, temporary | O_WRONLY | O_CLOEXEC, 0o600)
        return file >= 0 ? file : nil
    }

    private static func fill(_ file: Int32, _ image: StoreImage) -> Bool {
        image.content().withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = pwrite(file, bytes.baseAddress! + written, bytes.count - written, off_t(written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return fsync(file) == 0
        }
    }

    private static func isKept(_ path: String) -> Bool {
        StoreFile.syncParent(of: path)
        return true
    }
}
