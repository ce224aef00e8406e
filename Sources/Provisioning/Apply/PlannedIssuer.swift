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

    /// - Parameter isTenant: Returns whether a tenant with this ID exists or is declared.
    /// - Returns: `nil` if the settings are not valid. Violations are then added.
    init?(
        _ declared: Declared<TrustedIssuerDeclaration>, isTenant: (String) throws -> Bool, _ facts: ApplyFacts,
        _ problems: inout ApplyProblems
    ) throws {
        let (place, declaration) = (declared.place, declared.declaration)
        let pointer = "/issuers/\(place)"
        var rules = TrustedIssuerRules(facts.realm, allowsPlainLoopback: facts.allowsPlainLoopback)
        let name = rules.check(declaration)
        for violation in rules.violations { problems.add(pointer + violation.pointer, rule: violation.rule, violation.message) }
        guard let name, rules.violations.isEmpty else { return nil }
        if case .tenantId(let id) = declaration.source, try !isTenant(id) {
            problems.add("\(pointer)/tenantId", rule: TenantNotFound.type, TenantNotFound(tenantId: id).message)
            return nil
        }
        let existing = try facts.tx.trustedIssuer(name)
        self.place = place
        after = TrustedIssuerRecord(
            name: name, settings: declaration, createdAt: existing?.createdAt ?? facts.now, updatedAt: facts.now)
        let (old, new) = (existing?.settings.json ?? [:], declaration.json)
        difference = Difference(isNew: existing == nil, Self.members.map { ($0, old[$0] != new[$0]) })
    }

    private static let members = [
        "issuer", "tenantId", "audiences", "authorizedParties", "keys", "jwksUri", "algorithms", "types", "claims", "maxLifetimeSeconds",
        "maxAgeSeconds", "singleUse", "allowInsecure", "allowPrivateNetwork", "uses", "thumbprints", "tags",
    ]
}
