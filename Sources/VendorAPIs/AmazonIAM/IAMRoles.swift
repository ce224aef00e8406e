import Contract
import IdentityPools
import JSON
import Platform

/// The operations for roles.
extension IAMProtocol {
    static let roleOperations: [String: Operation] = [
        "CreateRole": { try $0.createRole() },
        "GetRole": { call in [call.element(try call.role())] },
        "ListRoles": { try $0.listRoles() },
        "DeleteRole": { try $0.deleteRole() },
        "UpdateAssumeRolePolicy": { call in
            let policy = try call.trustPolicy("PolicyDocument")
            return try call.updateRole { $0.trustPolicy = policy }
        },
        "UpdateRole": { call in
            let description = try call.optional("Description", 0...1000)
            let seconds = try call.integer("MaxSessionDuration", 3600...43200)
            _ = try call.updateRole { role in
                if let description { role.description = description.isEmpty ? nil : description }
                if let seconds { role.maxSessionSeconds = seconds }
            }
            return []
        },
        "UpdateRoleDescription": { call in
            let description = try call.optional("Description", 0...1000) ?? ""
            _ = try call.updateRole { $0.description = description.isEmpty ? nil : description }
            return [call.element(try call.role())]
        },
        // Roles of this store are in no instance profile. Tools ask for them before they delete a role.
        "ListInstanceProfilesForRole": { call in
            _ = try call.role()
            return [list("InstanceProfiles", []), complete]
        },
        "TagRole": { call in
            let tags = try call.tags() ?? [:]
            return try call.updateRole { role in
                role.tags = try checked(Members(role.tags.members.map { ($0.name, $0.value.string ?? "") }).adding(tags)).object
            }
        },
        "UntagRole": { call in
            let keys = call.list("TagKeys")
            return try call.updateRole { role in for key in keys { role.tags[key] = nil } }
        },
        "ListRoleTags": { call in [tags(try call.role().tags), complete] },
    ]

    func roleName() throws -> String { try required("RoleName", 1...64) }

    private func role() throws -> Role {
        let name = try roleName()
        try service.meetFault(of: RoleGet.self, context)
        return try service.role.get(RoleGet.Params(role: .name(name)), context)
    }

    private func updateRole(_ change: (inout RoleService.Change) throws -> Void) throws -> [XMLElement]? {
        let name = try roleName()
        try service.meetFault(of: RolePut.self, context)
        try service.role.update(name, context, change)
        return nil
    }

    private func trustPolicy(_ name: String) throws -> JSONObject {
        let text = try required(name, 1...131_072)
        guard let policy = (try? JSONValue(parsing: text))?.object else {
            throw WireError("MalformedPolicyDocument", "This policy contains invalid Json")
        }
        return policy
    }

    /// Returns a role as IAM writes it. The policy is URL-encoded JSON (RFC 3986).
    private func element(_ role: Role, named name: String = "Role") -> XMLElement {
        let policy = PercentEncoding.encode(String(decoding: role.trustPolicy.bytes, as: UTF8.self))
        var elements = [
            XMLElement("Path", "/"), XMLElement("RoleName", role.name), XMLElement("RoleId", role.roleId),
            XMLElement("Arn", role.roleArn), XMLElement("CreateDate", PolicyDate.text(role.createdAt)),
            XMLElement("AssumeRolePolicyDocument", policy),
        ]
        if let description = role.description { elements.append(XMLElement("Description", description)) }
        elements.append(XMLElement("MaxSessionDuration", String(role.maxSessionSeconds)))
        if !role.tags.isEmpty, name == "Role" { elements.append(Self.tags(role.tags)) }
        return XMLElement(name, elements)
    }

    private func createRole() throws -> [XMLElement]? {
        let name = try roleName()
        let policy = try trustPolicy("AssumeRolePolicyDocument")
        guard request.parameter("Path") ?? "/" == "/" else { throw WireError("InvalidInput", "The only supported Path is /.") }
        if request.parameter("PermissionsBoundary") != nil {
            throw WireError(
                "InvalidInput", "PermissionsBoundary is not supported: the service that verifies credentials enforces permissions.")
        }
        var params: JSONObject = ["name": .string(name), "trustPolicy": .object(policy)]
        params["maxSessionSeconds"] = try integer("MaxSessionDuration", 3600...43200).map { .number(JSONNumber($0)) }
        params["tags"] = try tags().map { .object(try Self.checked($0).object) }
        params["description"] = try optional("Description", 0...1000).flatMap { $0.isEmpty ? nil : .string($0) }
        try service.meetFault(of: RolePut.self, context)
        let request = try RolePut.Params(decoding: JSONText(JSONValue.object(params).text).root)
        guard let role = try service.role.create(request, context) else {
            throw WireError("EntityAlreadyExists", "Role with name \(name) already exists.", status: 409)
        }
        return [element(role)]
    }

    private func listRoles() throws -> [XMLElement]? {
        let limit = try integer("MaxItems", 1...1000) ?? 100
        guard request.parameter("PathPrefix") ?? "/" == "/" else { return [XMLElement("Roles", []), Self.complete] }
        try service.meetFault(of: RoleList.self, context)
        // IAM may return fewer roles than requested, and the page of `role.list` is smaller.
        let page = try service.role.list(RoleList.Params(limit: min(limit, 60), cursor: request.parameter("Marker")), context)
        let roles = XMLElement("Roles", page.roles.map { element($0, named: "member") })
        guard let next = page.nextCursor else { return [roles, Self.complete] }
        return [roles, XMLElement("IsTruncated", "true"), XMLElement("Marker", next)]
    }

    private func deleteRole() throws -> [XMLElement]? {
        let name = try roleName()
        try service.meetFault(of: RoleDelete.self, context)
        let policies = try service.role.policies(of: name, context, changing: false) { policies, _ in policies }
        guard policies.inline.isEmpty else {
            throw WireError("DeleteConflict", "Cannot delete entity, must delete policies first.", status: 409)
        }
        guard policies.attached.isEmpty else {
            throw WireError("DeleteConflict", "Cannot delete entity, must detach all policies first.", status: 409)
        }
        _ = try service.role.delete(RoleDelete.Params(role: .name(name)), context)
        return nil
    }
}
