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
        // The order is part of the scope: cursors of versions with another order are refused, here and there.
        let list = PagedList(method: AuditList.info.name, scope: "\(filter) by position")
        let cursor = try request.cursor.map { text in
            guard let cursor = AuditCursor(try list.place(after: text)) else { throw InvalidCursor(method: AuditList.info.name) }
            return cursor
        }
        let found = try context.database.read { try $0.auditRecords(filter, after: cursor, limit: Int(request.limit) + 1) }
        let page = list.page(found, limit: request.limit) { $0.cursor.text }
        return AuditList.Result(records: page.elements.map { $0.record.answer(mac: $0.mac) }, nextCursor: page.nextCursor)
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
