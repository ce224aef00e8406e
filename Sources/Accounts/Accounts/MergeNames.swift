import Contract
import Platform
import Storage

/// The field and provider names for which a merge accepts a choice, whether the two accounts differ in them or not. Unknown names are
/// rejected, because a merge cannot be undone.
struct MergeNames {
    let fields: [String]
    let providers: [String]

    init(_ target: MergeRule.Side, _ source: MergeRule.Side, _ tenant: TenantRecord, in tx: Transaction) throws {
        let sides = [target, source]
        let attributes = tenant.attributes.map(\.name) + sides.flatMap { $0.account.attributes.members.map(\.name) }
        let claims = sides.flatMap { $0.account.claims.members.map { "claims/\($0.name)" } }
        fields = ["email", "claims"] + Set(attributes + claims).sorted()
        let offered = try tx.idps(of: tenant.id, after: "", limit: 1000).map(\.providerId)
        providers = Set(offered + sides.flatMap { $0.logins.map(\.providerId) }).sorted()
    }

    /// - Throws: `InvalidParams` with every unknown name.
    func check(_ choices: MergeRule.Choices) throws {
        var violations: [Violation] = []
        func refuse(_ given: [String], in parameter: String, but known: [String], _ what: (String) -> String) {
            for name in given where !known.contains(name) {
                violations.append(
                    Violation(
                        pointer: "/\(parameter)/\(JSONPointer.escaped(name))", rule: "unknown",
                        message: what(name) + NearestNames.hint(name, among: known)))
            }
        }
        refuse(choices.fields.names, in: "fields", but: fields) { "Neither account has a field \($0)." }
        refuse(choices.providers.names, in: "providers", but: providers) { name in
            ["password", "code"].contains(name)
                ? "It is merged together with the email address: use email in fields."
                : "Neither the tenant nor an account has a provider \(name)."
        }
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
    }
}
