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
    let guides: [Guide]
    /// The requirements of security standards, in the order of `schemas/assurance.json`.
    let requirements: [AssuranceEntry]

    private let typesByName: [String: NamedType]
    private let errorsByType: [String: ErrorEntry]

    init(
        title: String, version: String, description: String, types: [NamedType], methods: [Method], notifications: [Notification],
        errors: [ErrorEntry], options: [ServeOption], guides: [Guide], requirements: [AssuranceEntry]
    ) {
        (self.title, self.version, self.description) = (title, version, description)
        (self.types, self.methods, self.notifications) = (types, methods, notifications)
        (self.errors, self.options, self.guides, self.requirements) = (errors, options, guides, requirements)
        typesByName = Dictionary(types.map { ($0.name, $0) }) { first, _ in first }
        errorsByType = Dictionary(errors.map { ($0.type, $0) }) { first, _ in first }
    }

    /// Returns the shared type `name`.
    func type(_ name: String) -> NamedType? { typesByName[name] }

    /// Returns the error of the type `type`.
    func error(_ type: String) -> ErrorEntry? { errorsByType[type] }

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
