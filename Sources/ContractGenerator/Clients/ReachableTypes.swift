/// The shared types that a set of methods, errors and notifications uses.
struct ReachableTypes {
    private let contract: Contract
    private(set) var names: Set<String> = []

    init(contract: Contract) { self.contract = contract }

    /// Adds the types of results and progress.
    mutating func add(resultsOf methods: [Method]) {
        for method in methods {
            add(method.result)
            if let progress = method.progress { add(progress) }
        }
    }

    /// Adds the types of parameters.
    mutating func add(paramsOf methods: [Method]) {
        for method in methods { method.params.properties.forEach { add($0.type) } }
    }

    /// Adds the types in the data of errors and in notifications.
    mutating func addErrorsAndNotifications() {
        for error in contract.errors { error.data.forEach { add($0.type) } }
        for notification in contract.notifications { add(notification.params) }
    }

    private mutating func add(_ type: Type) {
        switch type.shape {
        case .reference(let name): if names.insert(name).inserted { add(contract.type(name)!.type) }
        case .array(let element, _, _): add(element)
        case .map(_, let values, _): add(values)
        case .object(let object): object.properties.forEach { add($0.type) }
        case .boolean, .integer, .string, .enumeration, .anyObject: break
        }
    }
}

extension Contract {
    /// Returns the result member that contains the items if a method returns a paginated list, or `nil`.
    func listedMember(of method: Method) -> Property? {
        guard method.params.property("cursor") != nil, case .object(let result) = resolve(method.result).shape,
            result.property("nextCursor") != nil
        else { return nil }
        return result.properties.first { if case .array = resolve($0.type).shape { true } else { false } }
    }

    /// Returns the description of a member with its default. A member without a description has that of its type.
    ///
    /// - Parameter time: The description of a time that has none, in a client whose times are not numbers.
    func description(_ property: Property, time: String? = nil) -> String {
        if let time, case .reference("Timestamp") = property.type.shape, property.description.isEmpty { return time }
        let text = property.description.isEmpty ? resolve(property.type).description ?? "" : property.description
        let missing = property.defaultValue.map { " Defaults to \($0.text)." } ?? ""
        let saysDefault = text.contains("Defaults to") || text.contains("defaults to")
        return (text.isEmpty ? property.name : text) + (saysDefault ? "" : missing)
    }
}
