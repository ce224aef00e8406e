import Glibc

/// A directory that is removed when the tests end.
final class TemporaryFolder: Sendable {
    static let shared = TemporaryFolder()

    let path: String

    init() {
        let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(place)/mintmark-storage-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { preconditionFailure("no temporary folder") }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        atexit { TemporaryFolder.remove(TemporaryFolder.shared.path) }
    }

    func path(_ name: String) -> String { "\(path)/\(name).db" }

    private static func remove(_ folder: String) {
        guard let entries = opendir(folder) else { return }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name == "." || name == ".." { continue }
            let path = "\(folder)/\(name)"
            if unlink(path) != 0 { remove(path) }
        }
        closedir(entries)
        rmdir(folder)
    }
}

/// The low twelve bits of the file mode, or `nil` if the file does not exist.
func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
}
