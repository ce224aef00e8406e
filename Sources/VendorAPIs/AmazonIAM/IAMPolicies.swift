import Contract
import IdentityPools
import JSON
import Platform

/// The operations for permission policies of roles. The policies are stored and returned; the services that verify credentials evaluate
/// them.
extension IAMProtocol {
    static let policyOperations: [String: Operation] = [
        "PutRolePolicy": { try $0.putPolicy() },
        "GetRolePolicy": { try $0.getPolicy() },
        "DeleteRolePolicy": { call in
            let (role, name) = (try call.roleName(), try call.required("PolicyName", 1...128))
            try call.service.role.policies(of: role, call.context) { _, tx in
                guard try tx.deletePolicy(name, isAttached: false, ofRole: role) else { throw missing(name) }
            }
            return nil
        },
        "ListRolePolicies": { call in [list("PolicyNames", try call.policies().inline.map(\.name)), complete] },
        "AttachRolePolicy": { try $0.attachPolicy() },
        "DetachRolePolicy": { call in
            let (role, arn) = (try call.roleName(), try call.policyARN())
            try call.service.role.policies(of: role, call.context) { _, tx in
                guard try tx.deletePolicy(arn, isAttached: true, ofRole: role) else {
                    throw WireError("NoSuchEntity", "Policy \(arn) was not found.", status: 404)
                }
            }
            return nil
        },
        "ListAttachedRolePolicies": { call in
            let members = try call.policies().attached.map { arn in
                XMLElement(
                    "member",
                    [XMLElement("PolicyName", String(arn.split(separator: "/").last ?? "")), XMLElement("PolicyArn", arn)])
            }
            return [XMLElement("AttachedPolicies", members), complete]
        },
    ]

    private func policies() throws -> RolePolicySet {
        try service.role.policies(of: try roleName(), context, changing: false) { policies, _ in policies }
    }

    private static func missing(_ name: String) -> WireError {
        WireError("NoSuchEntity", "The role policy with name \(name) cannot be found.", status: 404)
    }

    private func policyARN() throws -> String {
        let arn = try required("PolicyArn", 20...2048)
        let parts = arn.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "arn", parts[2] == "iam", parts[5].hasPrefix("policy/"), parts[5].utf8.count > 7 else {
            throw WireError("InvalidInput", "ARN \(arn) is not valid.")
        }
        return arn
    }

    private func getPolicy() throws -> [XMLElement]? {
        let (role, name) = (try roleName(), try required("PolicyName", 1...128))
        guard let found = try policies().inline.first(where: { $0.name == name }) else { throw Self.missing(name) }
        return [
            XMLElement("RoleName", role), XMLElement("PolicyName", name),
            XMLElement("PolicyDocument", PercentEncoding.encode(found.document)),
        ]
    }

    private func putPolicy() throws -> [XMLElement]? {
        let (role, name) = (try roleName(), try required("PolicyName", 1...128))
        let text = try required("PolicyDocument", 1...131_072)
        guard let document = try? JSONValue(parsing: text), document.object != nil else {
            throw WireError("MalformedPolicyDocument", "Syntax errors in policy.")
        }
        let stored = document.text
        try service.role.policies(of: role, context) { policies, tx in
            let others = policies.inline.filter { $0.name != name }.reduce(0) { $0 + $1.document.utf8.count }
            guard others + stored.utf8.count <= 10_240 else {
                throw WireError("LimitExceeded", "Maximum policy size of 10240 bytes exceeded for role \(role)", status: 409)
            }
            try tx.putPolicy(name, stored, ofRole: role)
        }
        return nil
    }

    private func attachPolicy() throws -> [XMLElement]? {
        let (role, arn) = (try roleName(), try policyARN())
        try service.role.policies(of: role, context) { policies, tx in
            guard policies.attached.contains(arn) || policies.attached.count < 20 else {
                throw WireError("LimitExceeded", "Cannot exceed quota for PoliciesPerRole: 20", status: 409)
            }
            try tx.putPolicy(arn, nil, ofRole: role)
        }
        return nil
    }
}
