/// Checks that a caller finds a text for each method and each member.
struct TextChecks {
    let contract: Contract
    let problems: Problems

    func run() {
        for method in contract.methods {
            let place = "methods/\(method.name).json"
            if !method.summary.hasSuffix(".") { problems.add(place, "the summary must be a sentence that ends with a period") }
            members(of: method.params, at: place + "/params")
            walk(method.result, at: place + "/result")
        }
        for type in contract.types { walk(type.type, at: "types/\(type.name).json") }
    }

    private func walk(_ type: Type, at place: String) {
        switch type.shape {
        case .array(let element, _, _): walk(element, at: place)
        case .map(_, let values, _): walk(values, at: place)
        case .object(let object):
            if object.union == nil { members(of: object, at: place) }
        case .boolean, .integer, .string, .enumeration, .anyObject, .reference: break
        }
    }

    private func members(of object: ObjectType, at place: String) {
        for property in object.properties {
            if property.description.isEmpty, !isDescribed(property.type) {
                problems.add("\(place)/\(property.name)", "needs a description, because its type has none")
            }
            walk(property.type, at: "\(place)/\(property.name)")
        }
    }

    /// Returns whether a type, or the shared type that it names, has a description.
    private func isDescribed(_ type: Type) -> Bool {
        if case .reference(let name) = type.shape, let target = contract.type(name) {
            return !(target.type.description ?? "").isEmpty
        }
        return !(type.description ?? "").isEmpty
    }
}
