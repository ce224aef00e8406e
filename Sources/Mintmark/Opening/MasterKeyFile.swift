import Contract
import Crypto
import Glibc
import Identity

/// The master key of a store that was given none: a file beside it, readable for this user alone.
public struct MasterKeyFile: Sendable {
    let path: String

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
    func read() throws -> MasterKey? {
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
    func create(_ random: some RandomSource) throws -> MasterKey {
        let key = MasterKey.generate(random)
        // Written under another name first, so that nobody ever reads half a key.
        let draft = "\(path).\(random.uuid())"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(String(cString: strerror(errno))) }
        defer { unlink(draft) }
        let text = Array((key.text + "\n").utf8)
        let written = write(file, text, text.count) == text.count && fsync(file) == 0
        close(file)
        guard written else { throw failure("the key could not be written: \(String(cString: strerror(errno)))") }
        if link(draft, path) != 0 {
            guard errno == EEXIST, let others = try read() else { throw failure(String(cString: strerror(errno))) }
            return others
        }
        syncFolder()
        return key
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
