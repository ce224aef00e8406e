import Contract
import Crypto
import Glibc

/// The master key of a store that was given none: a file beside it, readable for this user alone.
public struct MasterKeyFile: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// The key in a file that was named, which must be there.
    ///
    /// - Throws: `StoreCannotOpen`.
    public func readGiven() throws -> MasterKey {
        guard let key = try read() else { throw failure("there is no such file") }
        return key
    }

    /// The key in the file, nil if there is no file.
    ///
    /// - Throws: `StoreCannotOpen` if the file cannot be read or holds no key.
    public func read() throws -> MasterKey? { try read(path) }

    private func read(_ path: String) throws -> MasterKey? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(String(cString: strerror(errno)))
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw failure(String(cString: strerror(errno))) }
        do { return try MasterKey(text: String(decoding: bytes[..<count], as: UTF8.self)) } catch {
            throw failure("it holds no master key: 32 bytes in base64url are needed")
        }
    }

    /// Makes the file with a new key, unless another process just did; then the key is that one's. The file and its folder
    /// are synced before anything is sealed with the key.
    public func create(_ random: some RandomSource) throws -> MasterKey {
        let key = MasterKey.generate(random)
        let draft = try draft(of: key, random.uuid())
        defer { unlink(draft) }
        if link(draft, path) != 0 {
            guard errno == EEXIST, let others = try read() else { throw failure(String(cString: strerror(errno))) }
            return others
        }
        syncFolder()
        return key
    }

    /// Writes `key` under another name first, so that nobody ever reads half a key.
    private func draft(of key: MasterKey, _ suffix: String) throws -> String {
        let draft = "\(path).\(suffix)"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(String(cString: strerror(errno))) }
        let text = Array((key.text + "\n").utf8)
        let written = write(file, text, text.count) == text.count && fsync(file) == 0
        let reason = String(cString: strerror(errno))
        close(file)
        guard written else {
            unlink(draft)
            throw failure("the key could not be written: \(reason)")
        }
        return draft
    }

    // MARK: Another key

    /// Where a key waits that is to replace the one in the file.
    func waitingPath(_ fingerprint: String) -> String { "\(path).\(fingerprint)" }

    /// The key with this fingerprint, in the file or waiting beside it; else whatever key is in the file, nil if there is none.
    public func read(preferring fingerprint: String) throws -> MasterKey? {
        let kept = try read()
        if kept?.fingerprint == fingerprint { return kept }
        // Between the two looks the waiting one may have taken its place.
        return try read(waitingPath(fingerprint)) ?? read()
    }

    /// Lays `key` beside the file, synced, before the store is put under it. Only inside the write transaction that does that.
    func prepare(_ key: MasterKey, _ suffix: String) throws {
        let draft = try draft(of: key, suffix)
        guard rename(draft, waitingPath(key.fingerprint)) == 0 else {
            defer { unlink(draft) }
            throw failure(String(cString: strerror(errno)))
        }
        syncFolder()
    }

    /// Lets the key that waits take the place of the one in the file, if it is the one that opens the store. The old key is gone then.
    ///
    /// Only inside a write transaction, in which `fingerprint` was read: so nobody puts the store under another key meanwhile, and no
    /// key is removed that opens it. A process that is killed before this leaves both keys, and the next start comes here.
    ///
    /// - Parameter abandoned: the key of someone who was overtaken.
    /// - Returns: the file that the key is in.
    public func settle(on fingerprint: String, abandoned: String? = nil) -> String {
        if let abandoned, abandoned != fingerprint { unlink(waitingPath(abandoned)) }
        for file in leftovers(besides: fingerprint) { unlink(file) }
        let waiting = waitingPath(fingerprint)
        if let kept = try? read(), kept.fingerprint == fingerprint {
            unlink(waiting)
            return path
        }
        guard let key = try? read(waiting), key.fingerprint == fingerprint, rename(waiting, path) == 0 else { return waiting }
        syncFolder()
        return path
    }

    /// Keys beside the file that a process left which was killed while it put the store under another key. They open nothing, for good
    /// once they are older than any such attempt takes.
    ///
    /// - Parameter fingerprint: that of the key which opens the store.
    public func leftovers(besides fingerprint: String) -> [String] {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? "./"
        let prefix = (slash.map { String(path[path.index(after: $0)...]) } ?? path) + "."
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var found: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard name.hasPrefix(prefix), name != prefix + fingerprint else { continue }
            let suffix = name.dropFirst(prefix.count).utf8
            let isOurs = [12, 36].contains(suffix.count) && suffix.allSatisfy { $0 == 0x2D || (0x30...0x39) ~= $0 || (0x61...0x66) ~= $0 }
            var facts = stat()
            guard isOurs, stat(folder + name, &facts) == 0 else { continue }
            if time(nil) - facts.st_mtim.tv_sec > Self.leftoverSeconds { found.append(folder + name) }
        }
        return found.sorted()
    }

    /// No process takes so long between writing a key and putting the store under it.
    private static let leftoverSeconds = 60

    private func syncFolder() {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func failure(_ reason: String) -> StoreCannotOpen { StoreCannotOpen(path: path, reason: reason) }
}
