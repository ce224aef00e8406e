import Glibc

/// A new folder that only this user can read, in the folder for temporary files.
struct PrivateFolder {
    let path: String

    /// - Parameter name: The beginning of its name.
    /// - Returns: `nil` if it cannot be created; `errno` is then the reason.
    init?(_ name: String) {
        let parent = Environment.plain("TMPDIR") ?? "/tmp"
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the folder with everything in it. Does not follow symbolic links.
    func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard facts.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        if let stream = opendir(path) {
            var names: [String] = []
            while let entry = readdir(stream) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                if name != ".", name != ".." { names.append(name) }
            }
            closedir(stream)
            for name in names { remove("\(path)/\(name)") }
        }
        rmdir(path)
    }
}
