/// Finds the secrets in the results of a method.
struct NodeSecrets {
    let contract: Contract

    /// Returns the paths of secret members. `*` matches every element of an array and every member of a map.
    func paths(in type: Type) -> [[String]] { paths(in: type, seen: []) }

    private func paths(in type: Type, seen: Set<String>) -> [[String]] {
        if type.isSecret { return [[]] }
        switch type.shape {
        case .reference(let name):
            guard !seen.contains(name), let target = contract.type(name) else { return [] }
            return paths(in: target.type, seen: seen.union([name]))
        case .array(let element, _, _): return paths(in: element, seen: seen).map { ["*"] + $0 }
        case .map(_, let values, _): return paths(in: values, seen: seen).map { ["*"] + $0 }
        case .object(let object):
            return object.properties.flatMap { property in paths(in: property.type, seen: seen).map { [property.name] + $0 } }
        case .boolean, .integer, .string, .enumeration, .anyObject: return []
        }
    }
}
