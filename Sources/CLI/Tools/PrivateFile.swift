import Glibc

/// A file with a secret, which only this user can read. It is replaced in one step: readers see the old or the new content.
struct PrivateFile {
    let path: String

    /// - Throws: `ToolFailure` with the reason.
    func write(_ text: String) throws {
        // A symbolic link stays, and its target is replaced.
        let target =
            realpath(path, nil).map { place in
                defer { free(place) }
                return String(cString: place)
            } ?? path
        let draft = "\(target).\(getpid()).part"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure(errno) }
        var bytes = Array(text.utf8)[...]
        var reason: Int32 = fchmod(file, 0o600) == 0 ? 0 : errno
        while reason == 0, !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { reason = count < 0 ? errno : EIO } else { bytes = bytes.dropFirst(count) }
        }
        if reason == 0, fsync(file) != 0 { reason = errno }
        close(file)
        if reason == 0, rename(draft, target) != 0 { reason = errno }
        guard reason == 0 else {
            unlink(draft)
            throw failure(reason)
        }
    }

    private func failure(_ reason: Int32) -> ToolFailure {
        ToolFailure(74, "fileNotWritten", "\(path) cannot be written: \(String(cString: strerror(reason))).")
    }
}
