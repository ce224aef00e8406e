import Contract
import ServiceContext

extension RoleService {
    /// - Throws: `RoleNotFound`.
    public func get(_ request: RoleGet.Params, _ call: any CallContext) throws -> RoleGet.Result {
        let (name, asked) =
            switch request.role {
            case .name(let name): (name, name)
            case .roleArn(let arn): (try name(of: arn), arn)
            }
        guard let role = try context.database.read({ try $0.role(name) }) else { throw RoleNotFound(role: asked) }
        return answer(role)
    }
}
