import Contract
import ServiceContext

extension RoleService {
    /// Deletes a role. Existing credentials remain valid until they expire; no new ones are issued.
    ///
    /// - Throws: `RoleNotFound`.
    public func delete(_ request: RoleDelete.Params, _ call: any CallContext) throws -> RoleDelete.Result {
        let now = context.clock.now
        let (name, asked) =
            switch request.role {
            case .name(let name): (name, name)
            case .roleArn(let arn): (try name(of: arn), arn)
            }
        let arn = context.realm.arn(ofRole: name)
        try context.database.write { tx in
            guard try tx.deleteRole(name) else { throw RoleNotFound(role: asked) }
            try context.audit.record(AuditEvent(method: RoleDelete.info.name, by: call, subject: arn), at: now, in: tx)
        }
        return RoleDelete.Result(roleArn: arn)
    }
}
