import Glibc
import Mintmark

/// The stores in the folder of a store: backups and replaced stores.
enum NearbyStores {
    /// The application ID in the header of a SQLite file of this program, and its position.
    private static let mark: [UInt8] = Array("MMRK".utf8)
    private static let markPosition: off_t = 68
    private static let most = 1_000

    /// Returns the other stores with the fingerprints of the master keys that open them, by name.
    static func all(near path: String) -> [(path: String, fingerprint: String)] {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < most, let entry = readdir(stream) {
            names.append(withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.sorted().compactMap { name in
            let file = folder == "./" ? name : folder + name
            guard file != path, isStore(file) else { return nil }
            return Mintmark.masterFingerprint(ofFile: file).map { (file, $0) }
        }
    }

    private static func isStore(_ path: String) -> Bool {
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return false }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var found = [UInt8](repeating: 0, count: 4)
        return pread(descriptor, &found, 4, markPosition) == 4 && found == mark
    }
}
