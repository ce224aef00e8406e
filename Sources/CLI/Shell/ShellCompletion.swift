import Contract
import JSON

/// Completes the lines of `mintmark shell`, and describes parameters.
struct ShellCompletion {
    /// Returns the candidates for the last word.
    func candidates(_ text: String, variables: [String]) -> (wordLength: Int, candidates: [String]) {
        let word = String(text.reversed().prefix { !$0.isWhitespace }.reversed())
        let before = String(text.dropLast(word.count))
        func matching(_ names: [String], _ start: String) -> (Int, [String]) {
            (start.count, names.filter { $0.hasPrefix(start) && $0 != start || $0 == start && !start.isEmpty })
        }
        let words = ShellWords.split(before)
        guard let first = words.first else {
            return matching(word.hasPrefix(".") ? ShellSession.commands.map(\.name) : Contract.MethodTable.all.map(\.name), word)
        }
        if first.hasPrefix(".") { return matching(arguments(of: first), word) }
        guard let schema = MethodSchema(of: first) else { return (0, []) }
        if let equals = word.firstIndex(of: "=") {
            let value = String(word[word.index(after: equals)...])
            if value.hasPrefix("$") { return matching(variables, value) }
            let name = String(word[..<equals].prefix { $0 != ":" && $0 != "[" })
            let type = schema.parameters.first { $0.name == name }.map { schema.resolved($0.schema) } ?? [:]
            let values = type["type"] == "boolean" ? ["true", "false"] : (type["enum"]?.array ?? []).compactMap(\.string)
            return matching(values + variables, value)
        }
        let given = Set(words.dropFirst().map { $0.prefix { $0 != "=" && $0 != ":" && $0 != "[" } })
        return matching(schema.parameters.map(\.name).filter { !given.contains($0[...]) }.map { $0 + "=" }, word)
    }

    private func arguments(of command: String) -> [String] {
        switch command {
        case ".describe": Contract.MethodTable.all.map(\.name)
        case ".mode": ["auto"] + OutputFormat.allCases.map(\.rawValue)
        case ".help": Documentation().topics.map(\.name) + Contract.MethodTable.all.map(\.name)
        default: []
        }
    }

    /// Returns the description of the parameter at the end of a line, or of the next one. `nil` if the line names no method, or the cursor
    /// is in a value.
    func explanation(_ text: String) -> String? {
        let words = ShellWords.split(text)
        guard let method = words.first, text == method || text.last?.isWhitespace ?? false, let schema = MethodSchema(of: method) else {
            return nil
        }
        let given = Set(words.dropFirst().map { String($0.prefix { $0 != "=" && $0 != ":" && $0 != "[" }) })
        let left = schema.parameters.filter { !given.contains($0.name) }
        guard let next = left.first(where: \.isRequired) ?? left.first else { return "\(method) has no further parameters." }
        let others = left.map(\.name).filter { $0 != next.name }
        return "\(next.name) (\(next.isRequired ? "required" : "optional")): \(next.description)"
            + (others.isEmpty ? "" : "\nFurther parameters: \(others.joined(separator: ", "))")
    }
}
