import JSON

/// The complete contract in memory. All of it has been read and checked, and all references resolve.
struct Contract {
    /// The service description: `title`, `version` and `description` of `schemas/service.json`.
    let title: String
    let version: String
    let description: String
    /// The shared types, ordered by name.
    let types: [NamedType]
    /// The methods, ordered by name.
    let methods: [Method]
    /// The notifications, ordered by name.
    let notifications: [Notification]
    /// The errors, in the order of `schemas/errors.json`.
    let errors: [ErrorEntry]
    /// The options of `mintmark serve` that clients offer, in the order of `schemas/options.json`.
    let options: [ServeOption]
    /// The guides, ordered by name.
    var guides: [Guide] = []
    /// The requirements of security standards, in the order of `schemas/assurance.json`.
    var requirements: [AssuranceEntry] = []

    /// Returns the shared type `name`.
    func type(_ name: String) -> NamedType? {
        var range = types.indices
        while let middle = range.dropFirst(range.count / 2).first {
            if types[middle].name == name { return types[middle] }
            range = types[middle].name < name ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// Returns the error of the type `type`.
    func error(_ type: String) -> ErrorEntry? { errors.first { $0.type == type } }

    /// The namespaces, ordered by name, with their methods.
    var namespaces: [(name: String, methods: [Method])] {
        Dictionary(grouping: methods, by: \.namespace).map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    /// Returns `type` with references resolved recursively.
    func resolve(_ type: Type) -> Type {
        guard case .reference(let name) = type.shape, let target = self.type(name) else { return type }
        return resolve(target.type)
    }

    /// Returns whether a value must not be displayed. The members of objects are checked separately.
    func isSecret(_ type: Type) -> Bool {
        if type.isSecret { return true }
        let resolved = resolve(type)
        if resolved.isSecret { return true }
        switch resolved.shape {
        case .array(let element, _, _): return isSecret(element)
        case .map(_, let values, _): return isSecret(values)
        default: return false
        }
    }
}

/// A shared type, which has a separate file under `schemas/types`.
struct NamedType {
    let name: String
    let type: Type
}
