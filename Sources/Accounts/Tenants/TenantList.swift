import Contract
import Patterns
import ServiceContext

extension TenantService {
    /// - Throws: `InvalidCursor`.
    public func list(_ request: TenantList.Params, _ call: any CallContext) throws -> TenantList.Result {
        let list = PagedList(method: TenantList.info.name)
        let start = try list.place(after: request.cursor)
        let found = try context.database.read { try $0.tenants(after: start, limit: Int(request.limit) + 1) }
        let page = list.page(found, limit: request.limit, place: \.id)
        return TenantList.Result(tenants: page.elements.map { $0.answer(in: context.realm) }, nextCursor: page.nextCursor)
    }

    /// Returns the attributes whose pattern is not supported, with the reason. Only stores of earlier versions contain such patterns.
    public func unusablePatterns() throws -> [(tenantId: String, attribute: String, reason: String)] {
        try surroundings.database.read { tx in
            var found: [(tenantId: String, attribute: String, reason: String)] = []
            var after = ""
            while true {
                let page = try tx.tenants(after: after, limit: 100)
                for tenant in page {
                    for attribute in tenant.attributes {
                        guard let pattern = attribute.pattern else { continue }
                        do throws(PatternRefusal) { _ = try Pattern(pattern) } catch {
                            found.append((tenant.id, attribute.name, "\(error)"))
                        }
                    }
                }
                guard let last = page.last else { return found }
                after = last.id
            }
        }
    }
}
