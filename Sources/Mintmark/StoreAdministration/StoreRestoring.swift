import Contract
import Crypto
import Glibc
import Platform
import ServiceContext
import Storage

/// Puts a backup in the place of a store. Nothing is written before the backup and its key are checked.
public struct StoreRestoring {
    /// The result of a restore.
    public struct Report: Sendable {
        public let path: String
        /// The fingerprint of the master key that opens the store.
        public let masterFingerprint: String
        /// The file with the master key next to the store, or `nil` if the key was given to the process.
        public let keyFile: String?
        /// The files of the store that was replaced.
        public let replaced: [String]
    }

    private let backup: String
    private let target: Configuration
    private let replaces: Bool
    private let random = SystemRandom()

    /// - Parameters:
    ///   - backup: The path of the backup.
    ///   - target: The store, with the master key if it was given.
    ///   - replaces: Whether a file at the place of the store is renamed.
    public init(_ backup: String, to target: Configuration, replaces: Bool) {
        OpenSSLRuntime.start()
        (self.backup, self.target, self.replaces) = (backup, target, replaces)
    }

    /// - Parameter progress: Receives how many pages of a file or rows of a database are copied, and the number of all.
    /// - Throws: `StoreNotEmpty`, `MasterKeyMissing`, `MasterKeyWrong`, `CopyNotVerified`, and the reasons the backup cannot be used.
    public func run(progress: (_ done: Int64, _ total: Int64) -> Void) throws -> Report {
        try checkBackup()
        if case .file(let path) = target.store { try Self.checkFolder(of: path) }
        var configuration = Configuration(store: .file(backup))
        (configuration.makesStores, configuration.migrates, configuration.readsOnly) = (false, false, true)
        let key: MasterKey
        do { key = try self.key(for: try fingerprint(configuration)) } catch StoreError.corrupt(let reason) {
            throw StoreCorrupt(reason: reason, path: backup)
        }
        configuration.masterKey = key
        guard case .file(let path) = target.store else {
            let report = try StoreCopying(from: configuration, to: target).run(progress: progress)
            return Report(path: "\(target.store)", masterFingerprint: report.masterFingerprint, keyFile: nil, replaced: [])
        }
        var status = stat()
        let isThere = lstat(path, &status) == 0
        let logs = AbandonedLogs.of(path)
        if !replaces, isThere || !logs.isEmpty {
            let what = logs.first.map { "its file is missing, but its log \($0) exists" } ?? "it exists"
            throw StoreNotEmpty(path: path, reason: "\(what). To rename it and restore the backup in its place, add --replace")
        }
        let source = try opening(configuration).openSource()
        defer { source.database.close() }
        guard let database = source.database as? SQLiteDatabase else { throw NotAStore(path: backup) }
        let damage = try database.damage()
        guard damage.isEmpty else { throw StoreCorrupt(reason: Self.summary(damage), path: backup) }
        let draft = path + Self.draftSuffix
        for rest in [draft, "\(path)\(Self.partSuffix)", "\(draft)\(Self.partSuffix)"] { unlink(rest) }
        let keyFile = target.masterKey == nil ? MasterKeyFile(path: path + ".key") : nil
        _ = try keyFile?.keep(key, random)
        var replaced: [String] = []
        if isThere {
            defer { unlink(draft) }
            _ = try write(database, to: draft, progress)
            replaced = try replace(path, by: draft, keyFile)
        } else {
            replaced = try renaming(path) { kept throws(StoreReplacement.Failure) in try AbandonedLogs.keep(path, as: kept) }
            _ = try write(database, to: path, progress)
        }
        return Report(
            path: path, masterFingerprint: key.fingerprint, keyFile: keyFile?.settle(on: key.fingerprint), replaced: replaced)
    }

    /// - Throws: `StoreCannotOpen` if there is no backup, with advice for a backup. Opening it would advise on a store.
    private func checkBackup() throws {
        var status = stat()
        if stat(backup, &status) != 0 {
            guard errno == ENOENT else { return }
            throw StoreCannotOpen(path: backup, reason: "the backup does not exist. Check the path")
        }
        if status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 {
            throw StoreCannotOpen(path: backup, reason: "the file is empty and contains no backup. Use another backup")
        }
    }

    /// - Throws: `StoreCannotOpen`, `StoreReadOnly`, before the key file of the store would fail for the same reason.
    private static func checkFolder(of path: String) throws {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
        guard access(folder, W_OK) != 0 else { return }
        let code = errno
        if code == ENOENT {
            throw StoreCannotOpen(path: path, reason: "the directory \(folder) does not exist. Create it, or check --store")
        }
        throw StoreReadOnly(reason: "the directory \(folder) cannot be written (\(String(cString: strerror(code))))")
    }

    /// Returns the first problems and the number of the others.
    private static func summary(_ damage: [String]) -> String {
        let most = 3
        return damage.prefix(most).joined(separator: "; ") + (damage.count > most ? "; and \(damage.count - most) more problems" : "")
    }

    private static let draftSuffix = ".restoring"
    private static let partSuffix = ".copy.part"

    private func opening(_ configuration: Configuration) -> StoreOpening {
        StoreOpening(configuration: configuration, random: random, foreign: NoLoginProviderClient())
    }

    // MARK: The key

    private func fingerprint(_ configuration: Configuration) throws -> String {
        let database = try opening(configuration).openDatabase()
        defer { database.close() }
        try StoreMetadata.refuseIncomplete(database, at: backup)
        guard let fingerprint = try database.read({ try $0.masterFingerprint() }) else {
            throw StoreCannotOpen(path: backup, reason: "it contains no data key, so it is not the backup of a store")
        }
        return fingerprint
    }

    /// Returns the key that opens the backup: the given key, or one next to the store or next to the backup.
    private func key(for fingerprint: String) throws -> MasterKey {
        var places = [backup]
        if case .file(let path) = target.store { places.insert(path, at: 0) }
        let near = { MasterKeyFile.find(fingerprint, near: places) }
        if let given = target.masterKey {
            guard given.fingerprint == fingerprint else {
                throw MasterKeyWrong(fingerprint: fingerprint, given: given.fingerprint, keyFile: near())
            }
            return given
        }
        var other: MasterKey?
        for place in places {
            guard let key = try MasterKeyFile(path: place + ".key").read(preferring: fingerprint) else { continue }
            if key.fingerprint == fingerprint { return key }
            other = other ?? key
        }
        if let other { throw MasterKeyWrong(fingerprint: fingerprint, given: other.fingerprint, keyFile: near()) }
        throw MasterKeyMissing(fingerprint: fingerprint, keyFile: near())
    }

    // MARK: The files

    private func write(
        _ database: SQLiteDatabase, to path: String, _ progress: (_ done: Int64, _ total: Int64) -> Void
    ) throws -> String {
        do {
            let done = try database.copy(
                to: path, suffix: "copy", isCancelled: { false }, progress: progress, noting: { _ = try $0.masterFingerprint() })
            return done?.path ?? path
        } catch StoreCopyFailure.exists(let path) {
            throw StoreNotEmpty(path: path, reason: "another process has just created it")
        } catch StoreCopyFailure.failed(let path, let reason) {
            throw BackupFailed(path: path, reason: reason)
        }
    }

    /// Returns a path that no file has: the given one, unless an earlier restore of the same second took it.
    private static func unused(_ path: String) -> String {
        func isFree(_ path: String) -> Bool {
            ["", "-wal", "-shm", "-journal"].allSatisfy { end in
                var status = stat()
                return lstat(path + end, &status) != 0
            }
        }
        var (found, number) = (path, 2)
        while !isFree(found) { (found, number) = ("\(path)-\(number)", number + 1) }
        return found
    }

    /// - Returns: The files of the replaced store.
    private func replace(_ path: String, by draft: String, _ keyFile: MasterKeyFile?) throws -> [String] {
        try renaming(path) { kept throws(StoreReplacement.Failure) in
            var files = try StoreReplacement.replace(path, by: draft, keeping: kept)
            // The replaced store opens with its own key, which `settle` is about to replace.
            if link(path + ".key", kept + ".key") == 0 { files.append(kept + ".key") }
            return files
        }
    }

    /// - Parameter rename: Gives the files of the store a name that no file has, and returns their paths.
    private func renaming(
        _ path: String, _ rename: (_ kept: String) throws(StoreReplacement.Failure) -> [String]
    ) throws -> [String] {
        do throws(StoreReplacement.Failure) {
            return try rename(Self.unused("\(path).replaced-\(Self.stamp(SystemClock().now))"))
        } catch {
            switch error {
            case .inUse: throw StoreNotEmpty(path: path, reason: "another process uses it. End that process first")
            case .failed(let reason): throw StoreNotEmpty(path: path, reason: "it cannot be replaced: \(reason)")
            }
        }
    }

    /// Returns a time in the form for file names: `20261123T113000Z`.
    static func stamp(_ moment: Int64) -> String {
        var (seconds, parts) = (time_t(moment), tm())
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
