/// Generates the messages of errors that the JSON-RPC layer returns itself, because that module does not depend on the contract.
struct WireTextsEmitter: Emitter {
    static let folder = "Sources/JSONRPC/Generated"

    /// The errors that `JSONRPC` throws.
    private static let types: Set = [
        "parseError", "invalidRequest", "methodNotFound", "invalidParams", "internalError", "requestCancelled", "shuttingDown",
        "resultTooLarge", "tooManyRequests",
    ]

    func files(for contract: Contract) -> [GeneratedFile] {
        var source = SwiftSource(from: "errors.json")
        source.doc("The messages of the errors that are answered without a handler, as the contract has them.")
        source.block("enum WireTexts") { source in
            for (number, entry) in contract.errors.filter({ Self.types.contains($0.type) }).enumerated() {
                if number > 0 { source.line() }
                source.doc(entry.when)
                let names = entry.messageParts.compactMap(\.placeholder)
                let parameters = names.map { "\($0): String" }.joined(separator: ", ")
                source.line("static func \(entry.type)(\(parameters)) -> String { \(Self.literal(entry)) }")
            }
        }
        return [GeneratedFile(path: "\(Self.folder)/WireTexts.swift", text: source.text)]
    }

    private static func literal(_ entry: ErrorEntry) -> String {
        let sections = entry.messageSections.map { section in
            let parts = section.parts.map { text, placeholder in
                text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + (placeholder.map { "\\(\($0))" } ?? "")
            }.joined()
            guard section.isOptional, let name = section.parts.compactMap(\.placeholder).first else { return parts }
            return "\\(\(name).isEmpty ? \"\" : \"\(parts)\")"
        }
        return "\"\(sections.joined())\""
    }
}
