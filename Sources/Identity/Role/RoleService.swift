import Contract
import JSON

/// Roles that temporary credentials stand for: `role.*`.
public struct RoleService: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue

    public init(_ surroundings: Surroundings, _ catalogue: Catalogue) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }

    func answer(_ role: RoleRecord) -> Role {
        Role(
            roleArn: surroundings.realm.arn(ofRole: role.name), roleId: role.roleId, name: role.name,
            trustPolicy: EncodedObject(encoded: Array(role.trustPolicy.utf8)), maxSessionSeconds: role.maxSessionSeconds,
            tags: Members(role.tags.members.map { ($0.name, $0.value.string ?? "") }), createdAt: role.createdAt, updatedAt: role.updatedAt)
    }

    /// The name of the role that an ARN of this account stands for.
    ///
    /// - Throws: `RoleNotFound` for the ARN of anything else.
    func name(of arn: String) throws -> String {
        guard let name = surroundings.realm.roleName(of: arn) else { throw RoleNotFound(role: arn) }
        return name
    }
}

extension RoleService: RoleHandlers {}
