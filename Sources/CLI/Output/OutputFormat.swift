import Arguments
import Contract
import Glibc
import JSON

/// The format of results on standard output.
enum OutputFormat: String, CaseIterable {
    case json, jsonl, table

    /// - Throws: `ValidationError` for an unknown format.
    static func named(_ name: String?) throws -> OutputFormat? {
        guard let name else { return nil }
        guard let format = OutputFormat(rawValue: name) else {
            throw ValidationError("--output must be one of \(allCases.map(\.rawValue).joined(separator: ", ")), not '\(name)'.")
        }
        return format
    }
}

/// Prints the results of a method.
struct ResultPrinter {
    /// `nil` for a table of lists and indented JSON on a terminal, and compact JSON elsewhere.
    var format: OutputFormat?
    /// The path of the only member to print.
    var field: String?
    /// Whether cells keep their length.
    var isWide = false
    /// Receives lines. Standard output, unless the shell writes to a file.
    var out: (String) throws -> Void = { try Printing.out($0) }
    /// Whether results are shown on a terminal.
    var isForTerminal = isatty(1) == 1

    /// - Throws: `ExitCode` 1 if the field does not exist, after it has been reported.
    func print(_ result: JSONValue, of method: String) throws {
        if let field {
            guard let value = Self.member(field, of: result) else {
                Printing.err("\(Printing.errorWord) The result has no member \(TextWidth.escaped(field)).\(Self.hint(result))")
                throw ExitCode(1)
            }
            return try out(value.string ?? value.text)
        }
        let list = Self.list(in: result)
        switch format {
        case .json: try out(isForTerminal ? Printing.pretty(result) : result.text)
        case .jsonl:
            guard let list else { return try out(result.text) }
            for entry in list.elements { try out(entry.text) }
        case .table: try table(result, list, of: method)
        case nil:
            if !isForTerminal { return try out(result.text) }
            if list?.elements.allSatisfy({ $0.object != nil }) ?? false { return try table(result, list, of: method) }
            try out(Printing.pretty(result))
        }
    }

    private func table(_ result: JSONValue, _ list: (name: String, elements: [JSONValue])?, of method: String) throws {
        let table = ResultTable(schema: MethodSchema(of: method), isForTerminal: isForTerminal, isWide: isWide)
        guard let list, list.elements.allSatisfy({ $0.object != nil }) else { return try table.members(of: result).forEach(out) }
        if list.elements.isEmpty { return Printing.err("No \(Self.words(list.name)).") }
        try table.lines(list.elements, listName: list.name).forEach(out)
        if let cursor = result["nextCursor"]?.string {
            Printing.err("There are more entries. To print all of them, use --all; for the next ones only, cursor=\(cursor)")
        }
    }

    /// Returns the list in a result that has only this list, and the cursor of the next page. In other results, a list is one member among
    /// others, and a table of its elements would hide them.
    static func list(in result: JSONValue) -> (name: String, elements: [JSONValue])? {
        let members = (result.object?.members ?? []).filter { $0.name != "nextCursor" }
        guard members.count == 1, let elements = members[0].value.array else { return nil }
        return (members[0].name, elements)
    }

    /// Returns a value by its path: `accounts[0].email`, `accounts.0.email`, or the JSON Pointer `/accounts/0/email`.
    static func member(_ path: String, of value: JSONValue) -> JSONValue? {
        var parts: [String]
        if path.hasPrefix("/") {
            parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
                String($0).replacing("~1", with: "/").replacing("~0", with: "~")
            }
        } else {
            parts = path.split { $0 == "." || $0 == "[" || $0 == "]" }.map(String.init)
        }
        var value = value
        while !parts.isEmpty {
            // Names can contain dots.
            let found = (1...parts.count).reversed().lazy.compactMap { count -> (Int, JSONValue)? in
                value[parts[..<count].joined(separator: ".")].map { (count, $0) }
            }.first
            if let found {
                (value, parts) = (found.1, Array(parts.dropFirst(found.0)))
            } else if let index = Int(parts[0]), let element = value[index] {
                (value, parts) = (element, Array(parts.dropFirst()))
            } else {
                return nil
            }
        }
        return value
    }

    private static func hint(_ result: JSONValue) -> String {
        let names = result.object?.names ?? []
        return names.isEmpty ? "" : " It has \(names.joined(separator: ", "))."
    }

    /// Returns the words of a member name: `signing keys` for `signingKeys`.
    private static func words(_ name: String) -> String {
        name.reduce(into: "") { words, character in words += character.isUppercase ? " " + character.lowercased() : String(character) }
    }
}
