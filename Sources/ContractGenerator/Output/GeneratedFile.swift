import Foundation

/// A file that follows from the contract.
struct GeneratedFile {
    /// From the root of the repository.
    let path: String
    let text: String
}

/// Makes files out of the contract: one language, one document.
protocol Emitter {
    /// A folder that holds nothing but what this emitter makes, if there is one: what else is found there is stale.
    static var folder: String { get }
    func files(for contract: Contract) -> [GeneratedFile]
}

/// Writes generated files, or finds those that differ from what they should be.
struct Output {
    /// The root of the repository.
    let root: URL
    let files: [GeneratedFile]
    let folders: [String]

    /// Paths of files that are missing, differ, or should not be there.
    func stale() -> [String] {
        files.filter { $0.text != (try? String(contentsOf: root.appending(path: $0.path), encoding: .utf8)) }.map(\.path) + surplus()
    }

    /// Writes what differs and removes what should not be there.
    ///
    /// - Returns: how many files were touched.
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
