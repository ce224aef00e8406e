import Contract
import IdentityPools
import JSON
import Storage

/// A declared role with its stored state.
struct PlannedRole {
    let place: Int
    let after: RoleRecord
    let difference: Difference
    /// The ID of the pool for which the standard trust policy is written.
    let poolId: String?

    var writes: Bool { difference.change != .unchanged }

    /// The facts against which a role is checked.
    struct References {
        let pools: PoolsOfDocument
        let review: TrustPolicyReview
    }

    /// - Parameter newId: The ID of the role if it is new.
    /// - Returns: `nil` if the trust policy is not valid. A violation is then added.
    init?(
        _ declared: Declared<RoleDeclaration>, newId: String, against references: References, _ facts: ApplyFacts,
        _ problems: inout ApplyProblems
    ) throws {
        let (place, declaration, tx, pools) = (declared.place, declared.declaration, facts.tx, references.pools)
        let existing = try tx.role(declaration.name)
        let pointer = "/roles/\(place)"
        let trust: (policy: String, poolId: String?)?
        switch declaration.trust {
        case .poolId(let id):
            trust = try problems.attempt(pointer + "/poolId") {
                guard try pools.contains(id) || tx.pool(id) != nil else { throw PoolNotFound(poolId: id) }
                return (TrustPolicy.standard(forPool: id).text, id)
            }
        case .poolName(let name):
            let id = try pools.id(named: name, in: tx)
            if id == nil {
                problems.add(
                    pointer + "/poolName", rule: "poolNotFound",
                    "The name \(name) does not identify exactly one pool. Declare the pool, or use poolId.")
            }
            trust = id.map { (TrustPolicy.standard(forPool: $0).text, $0) }
        case .trustPolicy(let policy):
            trust = try problems.attempt(pointer + "/trustPolicy") {
                // An exported policy can name an issuer that was deleted. It stays valid where it is stored.
                let isStored = existing?.trustPolicy == JSONValue.object(policy).text
                return (try references.review.accepted(policy, allowsUnknownIssuers: isStored).text, nil)
            }
        }
        for violation in ResourceTags.violations(declaration.tags, at: pointer + "/tags") {
            problems.add(violation.pointer, rule: violation.rule, violation.message)
        }
        guard let trust else { return nil }
        self.place = place
        poolId = trust.poolId
        after = RoleRecord(
            name: declaration.name, roleId: existing?.roleId ?? newId, trustPolicy: trust.policy,
            maxSessionSeconds: declaration.maxSessionSeconds, tags: declaration.tags?.object ?? [:],
            description: declaration.description, createdAt: existing?.createdAt ?? facts.now, updatedAt: facts.now)
        difference = Difference(
            isNew: existing == nil,
            [
                ("trustPolicy", existing?.trustPolicy != after.trustPolicy),
                ("maxSessionSeconds", existing?.maxSessionSeconds != after.maxSessionSeconds), ("tags", existing?.tags != after.tags),
                ("description", existing?.description != after.description),
            ])
    }
}
