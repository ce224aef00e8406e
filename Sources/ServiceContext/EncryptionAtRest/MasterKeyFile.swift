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
        guard let key = try read() else { throw failure("the file does not exist") }
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
            throw failure("it contains no master key: 32 bytes in base64url")
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
    package func waitingPath(_ fingerprint: String) -> String { "\(path).\(fingerprint)\(Self.waitingSuffix)" }

    /// Where a key is kept that was replaced: backups from before need it.
    func formerPath(_ fingerprint: String) -> String { "\(path).\(fingerprint)" }

    private static let waitingSuffix = ".new"

    /// The key with this fingerprint, in the file, waiting beside it, or kept there since it was replaced; else whatever key is in the file,
    /// nil if there is none.
    public func read(preferring fingerprint: String) throws -> MasterKey? {
        let kept = try read()
        if kept?.fingerprint == fingerprint { return kept }
        for file in [waitingPath(fingerprint), formerPath(fingerprint)] {
            if let key = try? read(file), key.fingerprint == fingerprint { return key }
        }
        // Since the first look the waiting one may have taken its place.
        return try read()
    }

    /// The file that holds the key with this fingerprint: this one, or one beside it.
    package func file(holding fingerprint: String) -> String? {
        [path, waitingPath(fingerprint), formerPath(fingerprint)].first { (try? read($0))?.fingerprint == fingerprint }
    }

    /// Lays `key` beside the file, synced, before the store is put under it. Only inside the write transaction that does that.
    package func prepare(_ key: MasterKey, _ suffix: String) throws {
        try lay(key, suffix, at: waitingPath(key.fingerprint))
    }

    private func lay(_ key: MasterKey, _ suffix: String, at place: String) throws {
        let draft = try draft(of: key, suffix)
        guard rename(draft, place) == 0 else {
            defer { unlink(draft) }
            throw failure(String(cString: strerror(errno)))
        }
        syncFolder()
    }

    /// Lets the key that opens the store take the place of the one in the file, which is kept beside it: it opens earlier backups.
    ///
    /// Only inside a write transaction, in which `fingerprint` was read: so nobody puts the store under another key meanwhile, and no
    /// key is removed that opens it. A process that is killed before this leaves both keys, and the next start comes here.
    ///
    /// - Parameters:
    ///   - abandoned: the key of someone who was overtaken.
    ///   - random: names a draft, where the old key must be copied.
    /// - Returns: the file that the key is in.
    public func settle(on fingerprint: String, abandoned: String? = nil, random: any RandomSource = SystemRandom()) -> String {
        if let abandoned, abandoned != fingerprint { unlink(waitingPath(abandoned)) }
        for file in leftovers(besides: fingerprint) { unlink(file) }
        let (waiting, former) = (waitingPath(fingerprint), formerPath(fingerprint))
        let kept = try? read()
        if let kept, kept.fingerprint == fingerprint {
            unlink(waiting)
            unlink(former)
            return path
        }
        guard let source = file(holding: fingerprint) else { return waiting }
        // Whatever is in the file, it is not overwritten before it is somewhere else.
        if let kept {
            guard keep(kept, random) else { return source }
        } else if access(path, F_OK) == 0 {
            return source
        }
        guard rename(source, path) == 0 else { return source }
        syncFolder()
        return path
    }

    /// Keeps the key that is in the file beside it too.
    private func keep(_ key: MasterKey, _ random: any RandomSource) -> Bool {
        let place = formerPath(key.fingerprint)
        // Not every file system has links.
        if link(path, place) != 0, (try? read(place))?.fingerprint != key.fingerprint { try? lay(key, random.uuid(), at: place) }
        guard (try? read(place))?.fingerprint == key.fingerprint else { return false }
        chmod(place, 0o600)
        syncFolder()
        return true
    }

    /// The keys that this file held before, with their fingerprints. They open earlier backups.
    public func formers() -> [(file: String, fingerprint: String)] {
        beside { Self.isFingerprint($0) }.compactMap { file in
            (try? read(file)).flatMap { key in file == formerPath(key.fingerprint) ? (file, key.fingerprint) : nil }
        }
    }

    /// Keys beside the file that a process left which was killed while it put the store under another key. They open nothing, for good
    /// once they are older than any such attempt takes.
    ///
    /// - Parameter fingerprint: that of the key which opens the store.
    public func leftovers(besides fingerprint: String) -> [String] {
        beside { suffix in
            let isDraft = suffix.utf8.count == 36 && suffix.utf8.allSatisfy { $0 == 0x2D || Self.isHex($0) }
            return isDraft || suffix.hasSuffix(Self.waitingSuffix) && Self.isFingerprint(suffix.dropLast(Self.waitingSuffix.count))
        }.filter { file in
            var facts = stat()
            return file != waitingPath(fingerprint) && stat(file, &facts) == 0 && time(nil) - facts.st_mtim.tv_sec > Self.leftoverSeconds
        }
    }

    /// No process takes so long between writing a key and putting the store under it.
    private static let leftoverSeconds = 60

    private static func isHex(_ byte: UInt8) -> Bool { (0x30...0x39) ~= byte || (0x61...0x66) ~= byte }
    private static func isFingerprint(_ text: Substring) -> Bool { text.utf8.count == 12 && text.utf8.allSatisfy(isHex) }

    /// The files whose names begin with that of this one and a dot, and whose names go on as `isMeant` says.
    private func beside(_ isMeant: (Substring) -> Bool) -> [String] {
        let prefix = Self.split(path).name + "."
        return Self.names(in: Self.split(path).folder).filter { $0.hasPrefix(prefix) && isMeant($0.dropFirst(prefix.count)) }
            .map { Self.split(path).folder + $0 }.sorted()
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("./", path) }
        return (String(path[...slash]), String(path[path.index(after: slash)...]))
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// A file that holds the key with this fingerprint, in the folders of `places`; only files with `.key` in their names are read.
    public static func find(_ fingerprint: String, near places: [String]) -> String? {
        for folder in Set(places.map { split($0).folder }).sorted() {
            for name in names(in: folder).sorted() where name.contains(".key") {
                let file = MasterKeyFile(path: folder + name)
                var facts = stat()
                // What is no regular file might never end.
                guard stat(file.path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= 4096 else { continue }
                if (try? file.read())?.fingerprint == fingerprint { return file.path }
            }
        }
        return nil
    }

    private func syncFolder() {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func failure(_ reason: String) -> StoreCannotOpen { StoreCannotOpen(path: path, reason: reason) }
}
