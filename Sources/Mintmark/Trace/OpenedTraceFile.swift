import Glibc

/// A file that messages may be written to: readable for its owner alone, and made here or the caller's own.
public struct OpenedTraceFile: Sendable {
    let descriptor: Int32
    let path: String

    /// Why a file cannot be used, a sentence without its beginning and full stop.
    public struct Unusable: Error { public let reason: String }

    /// Makes the file, or goes on at the end of one that belongs to this user and that nobody else can read or write.
    ///
    /// - Throws: `Unusable`.
    public init(path: String) throws(Unusable) {
        self.path = path
        let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let made = open(path, flags | O_CREAT | O_EXCL, 0o600)
        if made >= 0 {
            descriptor = made
            return
        }
        guard errno == EEXIST else { throw Unusable(reason: "cannot be created (\(String(cString: strerror(errno))))") }
        let found = open(path, flags)
        guard found >= 0 else {
            let reason = errno == ELOOP ? "it is a symbolic link" : String(cString: strerror(errno))
            throw Unusable(reason: "cannot be appended to (\(reason))")
        }
        if let reason = Self.flaw(found) {
            close(found)
            throw Unusable(reason: reason)
        }
        descriptor = found
    }

    private static func flaw(_ descriptor: Int32) -> String? {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return "cannot be inspected (\(String(cString: strerror(errno))))" }
        if facts.st_mode & S_IFMT != S_IFREG { return "is not a regular file" }
        if facts.st_uid != geteuid() { return "belongs to another user" }
        if facts.st_mode & 0o077 != 0 { return "is accessible to other users; run chmod 600, or use a new file" }
        return nil
    }
}
