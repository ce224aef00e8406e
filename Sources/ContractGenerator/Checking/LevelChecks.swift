/// Checks the members of methods that decide which tools a language model gets: `level`, `secrets` and `next`.
struct LevelChecks {
    let contract: Contract
    let problems: Problems

    /// The beginnings of verbs whose effect cannot be undone.
    private static let destroying = ["delete", "revoke", "withdraw", "merge", "reset"]

    func run() { contract.methods.forEach(check) }

    private func check(_ method: Method) {
        let place = "methods/\(method.name).json"
        if method.isReadOnly != (method.level == .read) {
            problems.add(
                place, "has the level \(method.level), but readOnly \(method.isReadOnly); exactly the methods that only read have read")
        }
        if method.level != .destroy, Self.destroying.contains(where: method.verb.hasPrefix) {
            problems.add(place, "needs the level destroy, because of its verb")
        }
        let params = Type(description: nil, isSecret: false, shape: .object(method.params))
        if isSecret(params) || isSecret(method.result) {
            if method.secrets == nil { problems.add(place, "has secret members, so it needs secrets, true or false") }
        } else if method.secrets != nil {
            problems.add(place, "has no secret members, so it must not have secrets")
        }
        for name in method.next where name == method.name || !contract.methods.contains(where: { $0.name == name }) {
            problems.add(place, "next must name other methods, not \(name)")
        }
    }

    /// Returns whether a type has a secret member at any depth. The types of the contract are not recursive.
    private func isSecret(_ type: Type) -> Bool {
        if type.isSecret { return true }
        return switch type.shape {
        case .reference(let name): contract.type(name).map { isSecret($0.type) } ?? false
        case .array(let element, _, _): isSecret(element)
        case .map(let names, let values, _): names.map(isSecret) ?? false || isSecret(values)
        case .object(let object): object.properties.contains { isSecret($0.type) }
        case .boolean, .integer, .string, .enumeration, .anyObject: false
        }
    }
}
