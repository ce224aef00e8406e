import Arguments
import Glibc
import JSON

/// Reads parameters in the notation of `mintmark call` and `mintmark shell`.
struct CallItems {
    let method: String
    /// Returns the value of a variable of the shell, such as `$_.poolId`. `nil` where there are no variables.
    var variable: ((String) throws -> JSONValue)?
    /// Reads a secret from the terminal, for `name=?`. `nil` without a terminal.
    var secret: ((String) throws -> String)?

    private let schema: MethodSchema?
    private var hasReadInput = false

    init(for method: String) {
        self.method = method
        schema = MethodSchema(of: method)
    }

    /// Returns the parameters. `{…}` and `-` stand alone.
    ///
    /// - Throws: `ValidationError` for items that cannot be read.
    mutating func parameters(_ items: [String]) throws -> JSONValue {
        if items.isEmpty { return [:] }
        if let whole = items.first(where: { $0 == "-" || "{[".contains($0.first { !$0.isWhitespace } ?? " ") }) {
            guard items.count == 1 else {
                throw ValidationError("A JSON object must be the only argument. Write all parameters in it, or all of them as name=value.")
            }
            let text = try whole == "-" ? text(ofFile: "-", for: "-") : whole
            return try json(text, "The parameters are not valid JSON")
        }
        let tree = ItemTree()
        for item in items {
            guard var path = ParameterPath(item) else {
                throw ValidationError("'\(Self.shortened(item))' is not a parameter. Write name=value, name:=JSON, or one JSON object.")
            }
            if let schema { path.adapt(to: schema) }
            try tree.set(value(of: path), at: path.steps[...], label: path.label)
        }
        return try tree.value()
    }

    /// The parameters among the items whose text is a secret, and that other users can therefore see in the list of processes.
    func visibleSecrets(_ items: [String]) -> [String] {
        guard let schema else { return [] }
        return items.compactMap { item in
            guard let path = ParameterPath(item), !path.isFile, path.value != "?", let type = schema.schema(of: path.steps) else {
                return nil
            }
            return schema.isSecret(type) ? path.label : nil
        }
    }

    private mutating func value(of path: ParameterPath) throws -> JSONValue {
        if path.isFile {
            let text = try text(ofFile: path.value, for: path.label)
            if path.notation == .json { return try json(text, "\(path.label): the content of '\(path.value)' is not valid JSON") }
            return .string(text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text)
        }
        if let variable, path.value.hasPrefix("$") { return try variable(path.value) }
        if path.notation == .json { return try json(path.value, "\(path.label): the value is not valid JSON") }
        let given = path.value
        if let secret, given == "?", schema?.schema(of: path.steps).map({ schema!.isSecret($0) }) ?? false {
            return .string(try secret(path.label))
        }
        let text = variable != nil && given.hasPrefix("\\$") ? String(given.dropFirst()) : given
        return schema?.value(of: text, at: path.steps) ?? .string(text)
    }

    private func json(_ text: String, _ problem: String) throws -> JSONValue {
        do {
            return try JSONValue(parsing: variable.map { try Self.replacingVariables(in: text, $0) } ?? text)
        } catch let error as JSONSyntaxError {
            throw ValidationError("\(problem): \(error.reason.rawValue) (at byte \(error.offset)). For text, write name=text.")
        }
    }

    private mutating func text(ofFile path: String, for label: String) throws -> String {
        if path == "-" {
            if hasReadInput { throw ValidationError("\(label): standard input is read by another parameter already. Use a file.") }
            hasReadInput = true
        }
        let file = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw ValidationError("\(label): the file '\(path)' cannot be read (\(String(cString: strerror(errno)))).") }
        defer { if path != "-" { close(file) } }
        let name = path == "-" ? "standard input" : "the file '\(path)'"
        guard let bytes = InputFile.readAll(file) else {
            throw ValidationError("\(label): \(name) cannot be read (\(String(cString: strerror(errno)))).")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ValidationError("\(label): \(name) is not UTF-8. Encode bytes as text, such as base64.")
        }
        return text
    }

    /// The beginning of an item, for a message.
    private static func shortened(_ item: String) -> String { item.count > 80 ? item.prefix(80) + "…" : item }

    /// Replaces variables outside of strings in JSON.
    private static func replacingVariables(in text: String, _ variable: (String) throws -> JSONValue) throws -> String {
        guard text.contains("$") else { return text }
        var (output, name, isInString, isEscaped) = ("", "", false, false)
        for character in text + " " {
            if !name.isEmpty {
                if character == "." || character == "_" || character == "[" || character == "]" || character.isLetter || character.isNumber
                {
                    // The end of a list is not a part of the name.
                    let isPart = character != "]" || name.count(where: { $0 == "[" }) > name.count(where: { $0 == "]" })
                    if isPart {
                        name.append(character)
                        continue
                    }
                }
                output += try variable(name).text
                name = ""
            }
            if !isInString, character == "$" {
                name = "$"
                continue
            }
            if character == "\"", !isEscaped { isInString.toggle() }
            isEscaped = isInString && character == "\\" && !isEscaped
            output.append(character)
        }
        return String(output.dropLast())
    }
}
