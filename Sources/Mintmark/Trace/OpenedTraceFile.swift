import Glibc

/// A file to which messages can be written. Only its owner, the current user, can read or write it.
public struct OpenedTraceFile: Sendable {
    let descriptor: Int32
    let path: String

    /// The reason a file cannot be used, as the end of a sentence without a period.
    public struct Unusable: Error { public let reason: String }

    /// Creates the file, or opens an existing one for appending if it belongs to this user and no other user can read or write it.
    ///
    /// - Throws: `Unusable` if the file cannot be created or does not meet these conditions.
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
