import Audit
import Contract
import Crypto
import Glibc
import Platform
import Provisioning
import ServiceContext
import Storage

/// Copies a whole store into an empty one: SQLite to PostgreSQL, back, or to the same kind.
public struct StoreCopying {
    /// The source and the target of a copy.
    public struct Report: Sendable {
        public let rows: [(table: String, count: Int64)]
        /// The fingerprint of the master key that opens the copy.
        public let masterFingerprint: String
        /// The file in which the master key of the copy was put, if any.
        public let keyFile: String?
    }

    private var from: Configuration
    private var to: Configuration
    private let newKey: MasterKey?
    private let random = SystemRandom()

    /// - Parameters:
    ///   - from: The source, with its master key if it has no key file.
    ///   - to: The target.
    ///   - newKey: The master key of the copy, or `nil` for that of the source.
    public init(from: Configuration, to: Configuration, newKey: MasterKey? = nil) {
        OpenSSLRuntime.start()
        (self.from, self.to, self.newKey) = (from, to, newKey)
        self.from.makesStores = false
        self.from.migrates = false
        self.from.readsOnly = true
        self.to.migrates = false
        self.to.masterKey = nil
    }

    /// Whether the two are the same store, as far as this can be said without opening them.
    public var isOneFile: Bool {
        guard case .file(let one) = from.store, case .file(let other) = to.store else { return false }
        var (first, second) = (stat(), stat())
        guard stat(one, &first) == 0, stat(other, &second) == 0 else { return one == other }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Thrown if the two addresses lead to the same PostgreSQL database.
    public struct SameStore: Error {}

    /// Copies the store, compares the number of rows, and verifies the audit log of the copy. Writes nothing to the source.
    ///
    /// - Parameters:
    ///   - dryRun: Whether to count the rows only.
    ///   - progress: Receives the number of rows that are copied and the number of all rows.
    /// - Throws: `StoreNotEmpty`, `CopyNotVerified`, `SameStore`, and the reasons a store cannot be used.
    public func run(dryRun: Bool = false, progress: (_ done: Int64, _ total: Int64) throws -> Void) throws -> Report {
        let source = try opening(from).openSource()
        defer { source.database.close() }
        try Self.checkVersion(source.database)
        let key = newKey ?? source.masterKey
        if dryRun {
            let rows = try RowCopy(from: source.database, to: source.database, tables: Schema.tables).counts()
            return Report(rows: rows, masterFingerprint: key.fingerprint, keyFile: nil)
        }
        try refuseOtherKey(key)
        let target = try opening(to).openDatabase()
        defer { target.close() }
        guard try !Self.isSame(source.database, target) else { throw SameStore() }
        try Self.checkVersion(target)
        let copy = RowCopy(from: source.database, to: target, tables: Schema.tables)
        let refused = StoreNotEmpty(path: "\(to.store)", reason: "it is not empty. Use a new file or an empty database")
        guard try copy.isTargetEmpty() else { throw refused }
        let keyFile = try keepKey(key)
        let salt = random.bytes(Vault.saltCount)
        let copied = try copy.run(
            changing: { tx in if newKey != nil { _ = try tx.rewrapDataKey(of: source.vault, under: key, salt: salt) } },
            progress: progress)
        guard let copied else { throw refused }
        try Self.verify(copy, copied, in: target, source.vault, at: "\(to.store)")
        try copy.finish()
        return Report(rows: copied.rows, masterFingerprint: key.fingerprint, keyFile: keyFile)
    }

    private func opening(_ configuration: Configuration) -> StoreOpening {
        StoreOpening(configuration: configuration, random: random, foreign: NoLoginProviderClient())
    }

    /// - Throws: `StoreError.tooOld`, `.tooNew`: the tables of both stores must be the same.
    private static func checkVersion(_ database: any Database) throws {
        let (found, needed) = (try database.facts().schemaVersion, Schema.version)
        if found < needed { throw StoreError.tooOld(found: found, needed: needed) }
        if found > needed { throw StoreError.tooNew(found: found, supported: needed - 1) }
    }

    private static func isSame(_ one: any Database, _ other: any Database) throws -> Bool {
        func place(_ database: any Database) throws -> String? {
            guard try database.facts().kind == .postgres else { return nil }
            return try database.read { tx in
                try tx.queryOne(
                    """
                    SELECT (SELECT system_identifier FROM pg_control_system())::TEXT || ' ' || current_database() || ' ' || current_schema()
                    """
                ) { $0.string(0) }
            }
        }
        guard let first = try place(one), let second = try place(other) else { return false }
        return first == second
    }

    // MARK: The key of the copy

    private var targetKeyFile: MasterKeyFile? {
        if case .file(let path) = to.store { MasterKeyFile(path: path + ".key") } else { nil }
    }

    /// - Throws: `StoreNotEmpty` if another key is where the key of the copy belongs.
    private func refuseOtherKey(_ key: MasterKey) throws {
        guard let file = targetKeyFile, let present = try file.read(), present.fingerprint != key.fingerprint else { return }
        throw StoreNotEmpty(
            path: file.path, reason: "it contains another master key, with the fingerprint \(present.fingerprint). Move it away first")
    }

    /// Puts the key of the source next to a copy in a file. A key that was named for the copy stays where it is.
    private func keepKey(_ key: MasterKey) throws -> String? {
        guard newKey == nil else { return nil }
        return try targetKeyFile?.keep(key, random)
    }

    // MARK: Verification

    /// - Throws: `CopyNotVerified`.
    static func verify(_ copy: RowCopy, _ copied: RowCopy.Copied, in target: any Database, _ vault: Vault, at path: String) throws {
        if let (table, expected, found) = try copy.difference(from: copied) {
            throw CopyNotVerified(path: path, reason: "the table \(table) has \(found) rows instead of \(expected)")
        }
        let context = ServiceContext(realm: Deployment(), database: target, vault: vault)
        let audit = try AuditService(context).verify(AuditVerify.Params(heads: copied.heads.isEmpty ? nil : copied.heads), OwnCall())
        guard audit.intact else {
            throw CopyNotVerified(
                path: path, reason: "its audit log is broken: \(audit.chains.compactMap(\.problem).joined(separator: "; "))")
        }
    }
}
