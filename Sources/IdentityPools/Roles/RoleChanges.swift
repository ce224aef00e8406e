import Contract
import JSON
import ServiceContext
import Storage

/// The changes of roles that the IAM API makes.
extension RoleService {
    /// Creates a role.
    ///
    /// - Returns: The role, or `nil` if it exists already.
    /// - Throws: `MalformedPolicy`; `InvalidParams` if a tag contains characters that are not allowed.
    package func create(_ request: RolePut.Params, _ call: any CallContext) throws -> Role? {
        try put(request, call, onlyIfNew: true).map { answer($0.role, $0.warnings) }
    }

    /// The members of a role that a change can replace.
    package struct Change {
        package var trustPolicy: JSONObject?
        package var maxSessionSeconds: Int64
        package var tags: JSONObject
        package var description: String?
    }

    /// Changes a role.
    ///
    /// - Throws: `RoleNotFound`, `MalformedPolicy`, and the errors of `change`.
    package func update(_ name: String, _ call: any CallContext, _ change: (inout Change) throws -> Void) throws {
        let now = context.clock.now
        try context.database.write { tx in
            guard let role = try tx.role(name) else { throw RoleNotFound(role: name) }
            var new = Change(maxSessionSeconds: role.maxSessionSeconds, tags: role.tags, description: role.description)
            try change(&new)
            let review = TrustPolicyReview(context.realm) { try tx.trustedIssuer($0)?.settings }
            let trustPolicy = try new.trustPolicy.map { try review.accepted($0).text } ?? role.trustPolicy
            _ = try tx.put(
                RoleRecord(
                    name: name, roleId: role.roleId, trustPolicy: trustPolicy, maxSessionSeconds: new.maxSessionSeconds, tags: new.tags,
                    description: new.description, createdAt: role.createdAt, updatedAt: now))
            try audit(name, call, at: now, in: tx)
        }
    }

    /// Reads the permission policies of a role and changes them.
    ///
    /// - Throws: `RoleNotFound`, and the errors of `body`.
    package func policies<R>(
        of name: String, _ call: any CallContext, changing: Bool = true, _ body: (RolePolicySet, Transaction) throws -> R
    ) throws -> R {
        let now = context.clock.now
        func run(_ tx: Transaction) throws -> R {
            guard try tx.role(name) != nil else { throw RoleNotFound(role: name) }
            return try body(try tx.policies(ofRole: name), tx)
        }
        guard changing else { return try context.database.read(run) }
        return try context.database.write { tx in
            let result = try run(tx)
            try audit(name, call, at: now, in: tx)
            return result
        }
    }

    private func audit(_ name: String, _ call: any CallContext, at now: Int64, in tx: Transaction) throws {
        try context.audit.record(
            AuditEvent(method: RolePut.info.name, by: call, subject: context.realm.arn(ofRole: name)), at: now, in: tx)
    }
}
