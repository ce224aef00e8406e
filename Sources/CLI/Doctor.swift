import Accounts
import Arguments
import Audit
import Contract
import Glibc
import IdentityPools
import Mintmark
import Network
import ServiceContext
import Storage

/// `mintmark doctor`
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the store, its keys and its records, and report problems.",
        discussion: """
            Creates nothing and changes nothing. Exit status 0: no problems. Exit status 2: problems, or no store. With --json, the result
            is an object with "ok" and the "findings"; each has a "check", a "status" (ok, problem or note) and a "message". A finding about
            an error also has its "type".

              mintmark doctor --store shop.db
              mintmark doctor --backup --store backups/monday.db
              mintmark doctor --json
            """
    )

    @OptionGroup(title: "Store") var options: StoreOptions

    @Flag(help: "Check a backup, which no service uses: it is no problem that it cannot be written, for example on a read-only medium.")
    var backup = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var output: ColorOption

    func run() throws {
        var report = DoctorReport(isJSON: json)
        let mintmark: Mintmark
        do {
            var configuration = try options.settings.configuration()
            configuration.makesStores = false
            configuration.readsOnly = true
            mintmark = Mintmark(configuration)
        } catch {
            guard contractError(error) != nil else { throw error }
            try report.add(.options, failure: error)
            return try report.finish()
        }
        defer { mintmark.close() }
        try report.add(.program, true, "mintmark \(Mintmark.version), issuer \(mintmark.configuration.realm.issuer)")
        do { try check(mintmark, &report) } catch let end as ExitCode { throw end } catch {
            try report.add(.store, failure: error)
        }
        // Not every deployment uses login providers, so a missing libcurl is not a problem.
        switch Self.curlFailure(mintmark.configuration.outgoing) {
        case nil: try report.add(.libcurl, true, "libcurl is available for requests to login providers")
        case let failure?: try report.note(.libcurl, "requests to login providers are not possible: \(failure)")
        }
        try Self.delivery(mintmark.configuration, &report)
        try report.finish()
    }

    private func check(_ mintmark: Mintmark, _ report: inout DoctorReport) throws {
        let services = try mintmark.services()
        let database = services.context.database
        let facts = try database.facts()
        let newer = facts.schemaVersion > Mintmark.schemaVersion ? " (one version newer than this program, which is supported)" : ""
        try report.add(
            .store, true, "store \(facts.path ?? "in memory"), schema version \(facts.schemaVersion)\(newer), \(facts.bytes / 1024) KiB")
        if facts.kind == .sqlite, let path = facts.path { try Self.checkModes(path) { try report.add(.fileModes, $0, $1) } }
        if let reason = (database.driver as? SQLiteDatabase)?.readOnlyReason {
            let text = "the store can be read, but not used by a service: \(reason)"
            if backup { try report.note(.writable, text) } else { try report.add(.writable, false, text) }
        } else {
            try database.tryToWrite()
            try report.add(.writable, true, "the store is writable")
        }
        if let fingerprint = try database.read({ try $0.masterFingerprint() }) {
            try report.add(.masterKey, true, "the master key opens it (fingerprint \(fingerprint))")
            for (file, former) in mintmark.configuration.keyFile?.formers() ?? [] {
                try report.note(.formerKeys, "\(file) is a former master key: backups that need the fingerprint \(former) open with it")
                try Self.checkMode(file) { try report.add(.fileModes, $0, $1) }
            }
            if facts.kind == .sqlite, let path = facts.path {
                for backup in NearbyStores.all(near: path) where backup.fingerprint != fingerprint {
                    try report.note(.backups, "\(backup.path) is a backup that needs the master key \(backup.fingerprint)")
                }
            }
            for file in mintmark.configuration.keyFile?.leftovers(besides: fingerprint) ?? [] {
                try report.note(
                    .formerKeys,
                    "\(file) is left over from an interrupted store.rekey and opens nothing; the next store.rekey removes it")
            }
        }
        if !mintmark.configuration.testing, let sqlite = database.driver as? SQLiteDatabase {
            let damage = try sqlite.damage()
            try report.add(
                .pages, damage.isEmpty,
                damage.isEmpty
                    ? "every page of the database is intact"
                    : "damage: \(damage.joined(separator: "; ")); stop using the store, keep a copy of its files, and restore an intact "
                        + "backup with mintmark restore")
        }
        for text in try Self.namelessTenants(services) { try report.note(.tenantNames, text) }
        for tenant in try services.tenant.tenantsWithGaps() {
            let gaps = tenant.gaps.isEmpty ? "no setting leaves a requirement open" : "open: \(tenant.gaps.joined(separator: ", "))"
            try report.note(.assurance, "tenant \(tenant.tenantId) has the assurance \(tenant.assurance); \(gaps)")
        }
        let accounts = services.passkey.accounts
        for finding in try accounts.metadataFindings(at: accounts.clock.now) {
            try report.add(.authenticatorMetadata, finding.isReadable, finding.detail)
        }
        try checkRules(services, &report)
    }

    /// Checks the records of the store.
    private func checkRules(_ services: Services, _ report: inout DoctorReport) throws {
        for flaw in try services.tenant.unusablePatterns() {
            try report.add(
                .patterns, false,
                "no value of the attribute \(flaw.attribute) of tenant \(flaw.tenantId) is accepted, because \(flaw.reason): "
                    + "change the pattern with tenant.update")
        }
        let audit = try services.audit.verify(AuditVerify.Params(), OwnCall())
        let records = audit.chains.reduce(0) { $0 + $1.records - ($1.removedRecords ?? 0) }
        try report.add(
            .auditLog, audit.intact,
            audit.intact
                ? "audit log intact: \(Printing.count(records, "record")) in \(Printing.count(Int64(audit.chains.count), "chain"))"
                : "audit log broken: \(audit.chains.compactMap(\.problem).joined(separator: "; "))")
        for role in try services.role.rolesWithoutPool() {
            try report.add(
                .trustPolicies, false,
                "the trust policy of \(role) has a statement that names no pool and allows nothing: "
                    + "add a condition on cognito-identity.amazonaws.com:aud with role.put")
        }
    }

    /// Reports the delivery for tenants that do not configure it themselves.
    private static func delivery(_ configuration: Configuration, _ report: inout DoctorReport) throws {
        if configuration.testing {
            return try report.note(.emails, "messages are captured by this testing store: test.outbox returns them")
        }
        let (mail, webhook) = (configuration.mail, configuration.webhook)
        let others = "; the delivery of a tenant takes precedence"
        let mails =
            mail.map { "emails are sent to \($0.server.origin), from \($0.sender.address)\(others)" }
            ?? webhook.map { "emails are posted to \($0.origin)\(others)" }
        let texts = webhook.map { "text messages are posted to \($0.origin)\(others)" }
        if let mails {
            try report.add(.emails, true, mails)
        } else {
            try report.note(
                .emails,
                "emails are not configured, except in the delivery of tenants: set --smtp-url and --mail-from, or --webhook-url")
        }
        if let texts {
            try report.add(.textMessages, true, texts)
        } else {
            try report.note(
                .textMessages,
                "text messages are not configured, except in the delivery of tenants: set --webhook-url and MINTMARK_WEBHOOK_SECRET")
        }
    }

    /// Returns a text for each tenant that is in use and has no name. The default tenant is in use if it has changed settings or accounts.
    static func namelessTenants(_ services: Services) throws -> [String] {
        var (lines, cursor): ([String], String?) = ([], nil)
        repeat {
            let page = try services.tenant.list(TenantList.Params(cursor: cursor), OwnCall())
            for tenant in page.tenants where tenant.name == nil {
                let isUsed =
                    try tenant.createdAt > 0 || tenant.updatedAt > 0
                    || !services.account.list(AccountList.Params(tenantId: tenant.tenantId, limit: 1), OwnCall()).accounts.isEmpty
                guard isUsed else { continue }
                lines.append(
                    "tenant \(tenant.tenantId) has no name, so its messages do not name a service: set name with tenant.update")
            }
            cursor = page.nextCursor
        } while cursor != nil
        return lines
    }

    private static func curlFailure(_ options: CurlClient.Options) -> HTTPFailure? {
        do throws(HTTPFailure) {
            try CurlClient(options).prepare()
            return nil
        } catch { return error }
    }

    static func checkModes(_ path: String, _ say: (Bool, String) throws -> Void) throws {
        for file in [path, path + "-wal", path + "-shm", path + ".key"] { try checkMode(file, say) }
    }

    private static func checkMode(_ file: String, _ say: (Bool, String) throws -> Void) throws {
        var facts = stat()
        guard stat(file, &facts) == 0 else { return }
        let isPrivate = facts.st_mode & 0o077 == 0
        try say(isPrivate, isPrivate ? "\(file) is for this user alone" : "\(file) can be read by others: chmod 600 '\(file)'")
    }
}
