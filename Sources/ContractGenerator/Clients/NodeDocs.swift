import JSON

/// Generates the text of doc comments in the Node client.
struct NodeDocs {
    let contract: Contract

    /// Returns the summary, the description and the errors of a method.
    func method(_ method: Method) -> String {
        var parts = [method.summary, "", method.description]
        if method.caller == .public { parts += ["", "Also available with `caller: \"public\"`."] }
        if !method.equivalents.isEmpty {
            parts += ["", "Equivalent: " + method.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: ", ") + "."]
        }
        if !method.errors.isEmpty { parts += ["", "@throws {\(method.errors.map(SwiftNames.type).joined(separator: " | "))}"] }
        return parts.joined(separator: "\n")
    }

    /// Returns the description, the limits and the default of a member. The limits of a shared type are part of the documentation of that
    /// type.
    func property(_ property: Property) -> String {
        var parts = [property.description.isEmpty ? contract.resolve(property.type).description ?? "" : property.description]
        parts.append(limits(property.type))
        if let value = property.defaultValue { parts.append("Defaults to \(value.text).") }
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    func type(_ type: Type) -> String {
        let secret = type.isSecret ? "Secret: `util.inspect` does not show it." : ""
        return [type.description ?? "", limits(type), secret].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private func limits(_ type: Type) -> String {
        switch type.shape {
        case .integer(let range):
            if range.lowerBound == .min || range.upperBound == .max { return "" }
            return "\(range.lowerBound) to \(range.upperBound)."
        case .string(let rule) where rule.length.upperBound != .max: return "At most \(rule.length.upperBound) characters."
        case .array(_, let count, _) where count.upperBound != .max: return "At most \(count.upperBound) elements."
        case .map(_, _, let count) where count.upperBound != .max: return "At most \(count.upperBound) members."
        default: return ""
        }
    }
}
