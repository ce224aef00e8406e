import Contract
import Platform
import ServiceContext

extension AuditService {
    /// Returns the matching records, newest first.
    ///
    /// - Throws: `InvalidCursor`.
    public func list(_ request: AuditList.Params, _ call: any CallContext) throws -> AuditList.Result {
        let filter = AuditFilter(
            since: request.since ?? 0, until: request.until ?? .max, poolId: request.poolId, identityId: request.identityId,
            method: request.method)
        let list = PagedList(method: AuditList.info.name, scope: "\(filter)")
        let cursor = try request.cursor.map { try AuditCursor(try list.place(after: $0)) }
        let found = try context.database.read { try $0.auditRecords(filter, after: cursor, limit: Int(request.limit) + 1) }
        let page = list.page(found, limit: request.limit) { "\($0.record.at) \($0.record.number) \($0.record.chain)" }
        return AuditList.Result(records: page.elements.map { $0.record.answer(mac: $0.mac) }, nextCursor: page.nextCursor)
    }
}

extension AuditCursor {
    init(_ text: String) throws {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count == 3, let at = Int64(parts[0]), let number = Int64(parts[1]) else {
            throw InvalidCursor(method: AuditList.info.name)
        }
        self.init(at: at, chain: String(parts[2]), number: number)
    }
}

extension AuditEntry {
    func answer(mac: [UInt8]) -> Contract.AuditRecord {
        var details = event.details
        let actor = details[AuditEvent.actor]?.string
        details[AuditEvent.actor] = nil
        return Contract.AuditRecord(
            chain: chain, sequence: number, at: at, method: event.method, poolId: event.poolId, identityId: event.identityId,
            subject: event.subject, trace: event.trace, actor: actor, details: details.isEmpty ? nil : EncodedObject(details),
            hash: Base64URL.encode(mac))
    }
}
