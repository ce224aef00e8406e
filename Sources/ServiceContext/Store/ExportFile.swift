import Contract
import Glibc

/// Writes a file that only this user can read. The file appears under its name when it is complete and synced. Existing files are not
/// overwritten.
package final class ExportFile {
    private let path: String
    private let draft: String
    private let descriptor: Int32
    private var bytes: Int64 = 0

    /// - Parameter suffix: A unique suffix for the temporary name.
    /// - Throws: `ExportFileExists`, `ExportFailed`.
    package init(_ path: String, suffix: String) throws {
        self.path = path
        draft = "\(path).\(suffix).part"
        var status = stat()
        if lstat(path, &status) == 0 { throw ExportFileExists(path: path) }
        descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw ExportFailed(path: path, reason: String(cString: strerror(errno))) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(draft)
    }

    /// - Throws: `ExportFailed`.
    package func write(_ text: [UInt8]) throws {
        var rest = text[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw failure() }
            rest = rest.dropFirst(count)
        }
        bytes += Int64(text.count)
    }

    /// Syncs the file and renames it to its final name. Returns its size.
    ///
    /// - Throws: `ExportFileExists`, `ExportFailed`.
    package func finish() throws -> Int64 {
        guard fsync(descriptor) == 0 else { throw failure() }
        guard link(draft, path) == 0 else { throw errno == EEXIST ? ExportFileExists(path: path) : failure() }
        let folder = open(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        return bytes
    }

    private func failure() -> ExportFailed { ExportFailed(path: path, reason: String(cString: strerror(errno))) }
}
