import JSON

/// The whole contract in memory, as the emitters take it. Everything in it has been read and checked; references resolve.
struct Contract {
    /// What the service calls itself: `title`, `version` and `description` of `schemas/service.json`.
    let title: String
    let version: String
    let description: String
    /// Shared types in the order of their names.
    let types: [NamedType]
    /// Methods in the order of their names.
    let methods: [Method]
    /// Notifications in the order of their names.
    let notifications: [Notification]
    /// Errors in the order of `schemas/errors.json`.
    let errors: [ErrorEntry]
    /// Options of `mintmark serve` that clients offer, in the order of `schemas/options.json`.
    let options: [ServeOption]

    /// The shared type `name`.
    func type(_ name: String) -> NamedType? { types.first { $0.name == name } }

    /// The error of the type `type`.
    func error(_ type: String) -> ErrorEntry? { errors.first { $0.type == type } }

    /// The namespaces in the order of their names, each with its methods.
    var namespaces: [(name: String, methods: [Method])] {
        Dictionary(grouping: methods, by: \.namespace).map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    /// What `type` says about itself, references followed to their end.
    func resolve(_ type: Type) -> Type {
        guard case .reference(let name) = type.shape, let target = self.type(name) else { return type }
        return resolve(target.type)
    }

    /// Whether a value must not be shown. Objects see to their own members.
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

/// A type with a file of its own under `schemas/types`.
struct NamedType {
    let name: String
    let type: Type
}
