import Arguments
import Contract
import Glibc
import JSON

/// A file with a key set (RFC 7517) that other programs can read while it is replaced.
struct KeySetFile {
    let path: String

    /// Returns the content of the file for `keys`.
    static func text(of keys: TokenJwks.Result) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("keys")
        writer.beginArray()
        for key in keys.keys { key.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Returns whether the file already has this content.
    func holds(_ text: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return InputFile.readAll(file) == Array((text + "\n").utf8)
    }

    /// Replaces the file atomically: readers see either the old or the new content, even after a power failure.
    ///
    /// - Throws: `ValidationError` with the reason.
    func write(_ text: String) throws {
        let draft = "\(path).\(getpid()).part"
        unlink(draft)
        // Public keys are readable by all users that the umask allows. An existing file keeps its mode.
        var status = stat()
        let isThere = stat(path, &status) == 0
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw failure() }
        let bytes = Array((text + "\n").utf8)
        var isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count
        if isThere { isWritten = isWritten && fchmod(file, status.st_mode & 0o777) == 0 }
        isWritten = isWritten && fsync(file) == 0
        let reason = failure()
        close(file)
        guard isWritten, rename(draft, path) == 0 else {
            let reason = isWritten ? failure() : reason
            unlink(draft)
            throw reason
        }
    }

    private func failure() -> ValidationError { ValidationError("\(path) cannot be written: \(String(cString: strerror(errno))).") }
}
