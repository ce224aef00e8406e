import Contract
import IdentityPools
import JSON
import ServiceContext
import Storage

/// A declared trusted issuer with its stored state.
struct PlannedIssuer {
    let place: Int
    let after: TrustedIssuerRecord
    let difference: Difference

    var writes: Bool { difference.change != .unchanged }

    /// - Returns: `nil` if the settings are not valid. Violations are then added.
    init?(
        _ declaration: TrustedIssuerDeclaration, at place: Int, _ facts: Facts, in tx: Transaction, _ problems: inout ApplyProblems
    ) throws {
        let pointer = "/issuers/\(place)"
        var rules = TrustedIssuerRules(facts.realm, allowsPlainLoopback: facts.allowsPlainLoopback)
        let name = rules.check(declaration)
        for violation in rules.violations { problems.add(pointer + violation.pointer, rule: violation.rule, violation.message) }
        guard let name, rules.violations.isEmpty else { return nil }
        if case .tenantId(let id) = declaration.source, try !facts.isTenant(id) {
            problems.add("\(pointer)/tenantId", rule: TenantNotFound.type, TenantNotFound(tenantId: id).message)
            return nil
        }
        let existing = try tx.trustedIssuer(name)
        self.place = place
        after = TrustedIssuerRecord(
            name: name, settings: declaration, createdAt: existing?.createdAt ?? facts.now, updatedAt: facts.now)
        let (old, new) = (existing?.settings.json ?? [:], declaration.json)
        difference = Difference(isNew: existing == nil, Self.members.map { ($0, old[$0] != new[$0]) })
    }

    /// What the plan of an issuer depends on in addition to its declaration.
    struct Facts {
        let realm: Deployment
        let allowsPlainLoopback: Bool
        let now: Int64
        let isTenant: (String) throws -> Bool
    }

    private static let members = [
        "issuer", "tenantId", "audiences", "authorizedParties", "keys", "jwksUri", "algorithms", "types", "claims", "maxLifetimeSeconds",
        "maxAgeSeconds", "singleUse", "allowInsecure", "allowPrivateNetwork", "uses", "thumbprints", "tags",
    ]
}
