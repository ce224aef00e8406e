import Contract
import Glibc
import Platform
import Storage
import Synchronization
import WebAuthn

/// The metadata of authenticators in files. A file is read again when it changes.
final class AuthenticatorMetadataFiles: Sendable {
    /// The maximum size of a file in bytes.
    static let largest = 32 << 20

    private struct Key: Hashable {
        let file: String
        let rootFile: String?
    }

    private struct Loaded {
        let stamps: [Stamp?]
        let result: Result<AuthenticatorMetadata, Unreadable>
    }

    /// The reason a file cannot be used, as a clause.
    struct Unreadable: Error, Equatable { let reason: String }

    /// The identity of a version of a file.
    private struct Stamp: Equatable {
        let (device, inode, size, seconds, nanoseconds): (UInt64, UInt64, Int64, Int64, Int64)

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
            (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
        }

        static func == (left: Stamp, right: Stamp) -> Bool {
            (left.device, left.inode, left.size, left.seconds, left.nanoseconds)
                == (right.device, right.inode, right.size, right.seconds, right.nanoseconds)
        }
    }

    private let loaded = Mutex<[Key: Loaded]>([:])

    /// Returns which attestations a tenant accepts.
    func trust(_ settings: PasskeySettings, at now: Int64) -> AttestationTrust {
        guard settings.metadataFile != nil else { return .anyone }
        return switch metadata(settings, at: now) {
        case .success(let metadata)?: .metadata(metadata)
        case .failure?, nil: .unavailable
        }
    }

    /// Returns the metadata of a tenant, or `nil` if its settings name no file.
    func metadata(_ settings: PasskeySettings, at now: Int64) -> Result<AuthenticatorMetadata, Unreadable>? {
        guard let file = settings.metadataFile else { return nil }
        let key = Key(file: file, rootFile: settings.metadataRootFile)
        let stamps = [Stamp(file), settings.metadataRootFile.flatMap(Stamp.init)]
        if let known = loaded.withLock({ $0[key] }), known.stamps == stamps, stamps[0] != nil { return known.result }
        let result = Self.read(key, at: now)
        loaded.withLock { $0[key] = Loaded(stamps: stamps, result: result) }
        return result
    }

    /// - Throws: `InvalidTenantSettings` if the file cannot be read or verified.
    static func check(_ settings: PasskeySettings?, at now: Int64) throws {
        guard let settings else { return }
        guard let file = settings.metadataFile else {
            guard settings.metadataRootFile == nil else {
                throw InvalidTenantSettings(
                    pointer: "/passkeys/metadataRootFile", reason: "metadataFile is missing, whose signature it verifies")
            }
            return
        }
        if case .failure(let unreadable) = read(Key(file: file, rootFile: settings.metadataRootFile), at: now) {
            throw InvalidTenantSettings(pointer: "/passkeys/metadataFile", reason: unreadable.reason)
        }
    }

    private static func read(_ key: Key, at now: Int64) -> Result<AuthenticatorMetadata, Unreadable> {
        do throws(Unreadable) {
            let blob = try bytes(of: key.file)
            var roots: String?
            if let rootFile = key.rootFile { roots = String(decoding: try bytes(of: rootFile), as: UTF8.self) }
            do throws(AuthenticatorMetadata.Unreadable) {
                return .success(try AuthenticatorMetadata(blob: blob, roots: roots, at: Int(now)))
            } catch { throw Unreadable(reason: "\(key.file) cannot be used: \(error.detail)") }
        } catch { return .failure(error) }
    }

    private static func bytes(of path: String) throws(Unreadable) -> [UInt8] {
        func failure() -> Unreadable { Unreadable(reason: "\(path) cannot be read: \(String(cString: strerror(errno)))") }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw failure() }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure() }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Unreadable(reason: "\(path) is not a regular file") }
        guard status.st_size <= largest else { throw Unreadable(reason: "\(path) is larger than 32 MiB") }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 18)
        while bytes.count <= largest {
            let count = Glibc.read(file, &part, part.count)
            if count < 0 { throw failure() }
            if count == 0 { break }
            bytes += part[..<count]
        }
        return bytes
    }
}
