import Contract
import Crypto
import Glibc
import Platform

/// The file with the generated master key of a store. It is in the same directory as the store, and only this user can read it.
public struct MasterKeyFile: Sendable {
    public let path: String
    /// The option or variable that names the file, or `nil` for a key file next to a store.
    private let source: String?

    public init(path: String, source: String? = nil) { (self.path, self.source) = (path, source) }

    /// Returns the key in a file that was configured and must exist.
    ///
    /// - Throws: `StoreCannotOpen`.
    public func readGiven() throws -> MasterKey {
        guard let key = try read() else { throw failure("the file does not exist") }
        return key
    }

    /// Returns the key in the file, or `nil` if the file does not exist.
    ///
    /// - Throws: `StoreCannotOpen` if the file cannot be read or does not contain a key.
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
            throw failure(
                count == 0 ? "it is empty" : "it does not contain a master key",
                advice: ". A master key is 32 bytes in base64url (43 characters) or hexadecimal (64 characters). "
                    + (source == nil
                        ? "Restore the file from a copy of it, or pass the key with --master-key-file"
                        : "Use another file, or restore this one from a copy of it"))
        }
    }

    /// Creates the file with a new key, or returns the key that another process has just created. The file and its directory are synced
    /// before the key encrypts anything.
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

    /// Makes `key` available to the store next to this file: in this file if it does not exist yet, otherwise in a second file next to it,
    /// where opening the store finds it. Overwrites nothing.
    ///
    /// - Returns: The path of the file that holds the key.
    package func keep(_ key: MasterKey, _ random: any RandomSource) throws -> String {
        if let file = file(holding: key.fingerprint) { return file }
        let draft = try draft(of: key, random.uuid())
        defer { unlink(draft) }
        for place in [path, formerPath(key.fingerprint)] {
            if link(draft, place) == 0 {
                syncFolder()
                return place
            }
            guard errno == EEXIST else { throw failure(String(cString: strerror(errno))) }
        }
        throw failure("the file \(formerPath(key.fingerprint)) contains something else; move it away")
    }

    /// Writes `key` under a temporary name first, so that no process reads an incomplete key.
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

    // MARK: Replacing the key

    /// The path of a new key before it replaces the one in the file.
    package func waitingPath(_ fingerprint: String) -> String { "\(path).\(fingerprint)\(Self.waitingSuffix)" }

    /// The path of a key that was replaced. Earlier backups need it.
    func formerPath(_ fingerprint: String) -> String { "\(path).\(fingerprint)" }

    private static let waitingSuffix = ".new"

    /// Returns the key with this fingerprint from the key file, the pending file or the file of former keys. Returns any other key in the
    /// key file if there is none with this fingerprint, or `nil` if the file does not exist.
    public func read(preferring fingerprint: String) throws -> MasterKey? {
        let kept = try read()
        if kept?.fingerprint == fingerprint { return kept }
        for file in [waitingPath(fingerprint), formerPath(fingerprint)] {
            if let key = try? read(file), key.fingerprint == fingerprint { return key }
        }
        // The pending key may have replaced the one in the file since the first read.
        return try read()
    }

    /// Returns the path of the file with this key: the key file, the pending file or the file of a former key.
    package func file(holding fingerprint: String) -> String? {
        [path, waitingPath(fingerprint), formerPath(fingerprint)].first { (try? read($0))?.fingerprint == fingerprint }
    }

    /// Writes and syncs `key` to the pending file before it encrypts the data key. Must be called in the write transaction that does so.
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

    /// Makes the key that opens the store the one in the key file. The previous key is kept in another file, because it opens earlier
    /// backups.
    ///
    /// Must be called in a write transaction in which `fingerprint` was read, so that no other process replaces the master key concurrently
    /// and no needed key is removed. If the process is killed before this call, both files remain, and the next start repeats the call.
    ///
    /// - Parameters:
    ///   - abandoned: The fingerprint of a new key that was not committed.
    ///   - random: Generates the name of the temporary file if the old key must be copied.
    /// - Returns: The path of the file with the key.
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
        // The key in the file is overwritten only after it was copied.
        if let kept {
            guard keep(kept, random) else { return source }
        } else if access(path, F_OK) == 0 {
            return source
        }
        guard rename(source, path) == 0 else { return source }
        syncFolder()
        return path
    }

    /// Copies the key in the file to the path of a former key.
    private func keep(_ key: MasterKey, _ random: any RandomSource) -> Bool {
        let place = formerPath(key.fingerprint)
        // Some file systems do not support hard links.
        if link(path, place) != 0, (try? read(place))?.fingerprint != key.fingerprint { try? lay(key, random.uuid(), at: place) }
        guard (try? read(place))?.fingerprint == key.fingerprint else { return false }
        chmod(place, 0o600)
        syncFolder()
        return true
    }

    /// Returns the former keys of this file with their fingerprints. They open earlier backups.
    public func formers() -> [(file: String, fingerprint: String)] {
        beside { Self.isFingerprint($0) }.compactMap { file in
            (try? read(file)).flatMap { key in file == formerPath(key.fingerprint) ? (file, key.fingerprint) : nil }
        }
    }

    /// Returns the key files that a killed process left while it replaced the master key. They open no store and can be removed when they
    /// are older than any such operation takes.
    ///
    /// - Parameter fingerprint: The fingerprint of the key that opens the store.
    public func leftovers(besides fingerprint: String) -> [String] {
        beside { suffix in
            let isDraft = suffix.utf8.count == 36 && suffix.utf8.allSatisfy { $0 == 0x2D || Self.isHex($0) }
            return isDraft || suffix.hasSuffix(Self.waitingSuffix) && Self.isFingerprint(suffix.dropLast(Self.waitingSuffix.count))
        }.filter { file in
            var facts = stat()
            return file != waitingPath(fingerprint) && stat(file, &facts) == 0 && time(nil) - facts.st_mtim.tv_sec > Self.leftoverSeconds
        }
    }

    /// The maximum time between writing a key and committing its use, in seconds.
    private static let leftoverSeconds = 60

    private static func isHex(_ byte: UInt8) -> Bool { (0x30...0x39) ~= byte || (0x61...0x66) ~= byte }
    private static func isFingerprint(_ text: Substring) -> Bool { text.utf8.count == 12 && text.utf8.allSatisfy(isHex) }

    /// Returns the files whose names begin with that of this file and a dot, and whose remaining name satisfies `isMeant`.
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

    /// Returns the path of a file with this key in the directories of `places`. Only files with `.key` in their names are read.
    public static func find(_ fingerprint: String, near places: [String]) -> String? {
        for folder in Set(places.map { split($0).folder }).sorted() {
            for name in names(in: folder).sorted() where name.includes(".key") {
                let file = MasterKeyFile(path: folder + name)
                var facts = stat()
                // Reading another kind of file, such as a FIFO, may block.
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

    private func failure(_ reason: String, advice: String = "") -> StoreCannotOpen {
        let origin = source.map { " (the file of the master key, from \($0))" } ?? ""
        return StoreCannotOpen(path: path, reason: reason + origin + advice)
    }
}
