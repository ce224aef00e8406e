import Foundation

/// A file that is generated from the contract.
struct GeneratedFile {
    /// The path, relative to the root of the repository.
    let path: String
    let text: String
}

/// Generates files from the contract for one language or document.
protocol Emitter {
    /// The folder that contains only the files of this emitter, or an empty string. Other files in it are stale.
    static var folder: String { get }
    func files(for contract: Contract) -> [GeneratedFile]
}

/// Writes generated files, or finds those that are out of date.
struct Output {
    /// The root of the repository.
    let root: URL
    let files: [GeneratedFile]
    let folders: [String]

    /// Returns the paths of files that are missing, differ, or should not exist.
    func stale() -> [String] {
        files.filter { $0.text != (try? String(contentsOf: root.appending(path: $0.path), encoding: .utf8)) }.map(\.path) + surplus()
    }

    /// Writes files that differ and removes files that should not exist.
    ///
    /// - Returns: The number of changed files.
    func write() throws -> Int {
        let stale = Set(stale())
        for file in files where stale.contains(file.path) {
            let url = root.appending(path: file.path)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.text.utf8).write(to: url)
        }
        for path in surplus() { try FileManager.default.removeItem(at: root.appending(path: path)) }
        return stale.count
    }

    private func surplus() -> [String] {
        let expected = Set(files.map(\.path))
        return folders.flatMap { folder in
            (FileManager.default.subpaths(atPath: root.appending(path: folder).path) ?? []).map { "\(folder)/\($0)" }
        }.filter { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder)
            return !isFolder.boolValue && !expected.contains(path)
        }.sorted()
    }
}
