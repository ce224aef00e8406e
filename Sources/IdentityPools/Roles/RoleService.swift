import Contract
import JSON
import ServiceContext

/// The `role.*` methods.
public struct RoleService: Sendable {
    var context: ServiceContext
    let configurations: PoolConfigurationCache

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    func answer(_ role: RoleRecord, _ warnings: [PolicyWarning] = []) -> Role {
        Role(
            roleArn: context.realm.arn(ofRole: role.name), roleId: role.roleId, name: role.name,
            trustPolicy: EncodedObject(encoded: Array(role.trustPolicy.utf8)), maxSessionSeconds: role.maxSessionSeconds,
            tags: Members(role.tags.members.map { ($0.name, $0.value.string ?? "") }), description: role.description,
            warnings: warnings.isEmpty ? nil : warnings, createdAt: role.createdAt, updatedAt: role.updatedAt)
    }

    /// Returns the names of the roles whose trust policy has a statement without a pool. Such a statement allows nothing. Only stores of
    /// earlier versions contain such roles.
    public func rolesWithoutPool() throws -> [String] {
        try context.database.read { tx in
            var found: [String] = []
            var after = ""
            while true {
                let page = try tx.roles(after: after, limit: 1000)
                found += try page.filter { try TrustPolicy(stored: $0.trustPolicy).hasOpenStatement }.map(\.name)
                guard let last = page.last else { return found }
                after = last.name
            }
        }
    }

    /// Returns the name of the role with this ARN.
    ///
    /// - Throws: `RoleNotFound` if the ARN is not that of a role of this account.
    func name(of arn: String) throws -> String {
        guard let name = context.realm.roleName(of: arn) else { throw RoleNotFound(role: arn) }
        return name
    }
}

extension RoleService: RoleHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
