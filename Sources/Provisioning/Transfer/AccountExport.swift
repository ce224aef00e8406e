import Accounts
import Contract
import JSON
import ServiceContext

extension AccountService {
    /// Exports accounts to a file or in pages.
    ///
    /// - Throws: `TenantNotFound`, `InvalidCursor`, `ExportFileExists`, `ExportFailed`, `RequestCancelled`.
    public func export(_ request: AccountExport.Params, _ call: any CallContext) throws -> AccountExport.Result {
        let tenant = try context.database.read { try configurations.tenant(request.tenantId, in: $0) }
        let accounts = PortableAccounts(context: context, withSecrets: request.includeSecrets)
        if case .file(let path) = request.place { return try export(tenant, accounts, to: path, call) }
        var cursor: String?
        if case .cursor(let given) = request.place { cursor = given }
        let list = PagedList(method: AccountExport.info.name, scope: tenant.id)
        let start = try list.place(after: cursor)
        let found = try context.database.read { try accounts.read(tenant.id, after: start, limit: Int(request.limit) + 1, in: $0) }
        let page = list.page(found, limit: request.limit) { $0.account.id }
        let portable = try page.elements.map(accounts.portable)
        try recordSecrets(portable.count, accounts, tenant, call: call)
        return AccountExport.Result(exported: Int64(portable.count), accounts: portable, nextCursor: page.nextCursor)
    }

    /// The number of accounts that are read in one transaction.
    private static let chunkCount = 500

    private func export(
        _ tenant: TenantRecord, _ accounts: PortableAccounts, to path: String, _ call: any CallContext
    ) throws -> AccountExport.Result {
        let file = try ExportFile(path, suffix: context.random.uuid())
        var (count, last) = (0, "")
        while true {
            if call.isCancelled { throw RequestCancelled() }
            let chunk = try context.database.read { try accounts.read(tenant.id, after: last, limit: Self.chunkCount, in: $0) }
            guard let end = chunk.last else { break }
            var writer = JSONWriter(reservingCapacity: 1 << 16)
            for held in chunk {
                try accounts.portable(held).write(to: &writer)
                writer.bytes.append(0x0A)
                writer.beginText()
            }
            try file.write(writer.bytes)
            (count, last) = (count + chunk.count, end.account.id)
            call.progress(["exported": .number(JSONNumber(Int64(count)))])
        }
        try recordSecrets(count, accounts, tenant, call: call)
        let bytes = try file.finish()
        return AccountExport.Result(exported: Int64(count), file: path, bytes: bytes)
    }

    /// Writes an audit record if the export includes secrets.
    private func recordSecrets(_ count: Int, _ accounts: PortableAccounts, _ tenant: TenantRecord, call: any CallContext) throws {
        guard accounts.withSecrets else { return }
        let event = AuditEvent(AccountExport.info.name, call, tenant: tenant.id, details: [("exported", String(count))])
        let now = context.clock.now
        try context.database.write { try context.audit.record(event, at: now, in: $0) }
    }
}
