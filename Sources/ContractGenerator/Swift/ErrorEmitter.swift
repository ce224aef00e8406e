import JSON

/// Generates one error as a struct that can be thrown.
struct ErrorEmitter {
    let types: SwiftTypes
    let entry: ErrorEntry

    var file: GeneratedFile {
        var source = SwiftSource(from: "errors.json")
        let object = ObjectType(properties: entry.data, isClosed: false, choices: [])
        let structure = StructEmitter(types: types, object: object, rule: "", reads: false, writes: false)
        let name = SwiftNames.type(entry.type)
        structure.emit(name, doc: entry.when, to: &source, conformances: ["ContractError"]) { source in
            source.line()
            source.line("public static let code = \(entry.code)")
            source.line("public static let type = \"\(entry.type)\"")
            source.line()
            source.line("public var message: String { \(message) }")
            source.line()
            source.block("public func writeData(to writer: inout JSONWriter)") { source in
                source.line("writer.beginObject()")
                source.line("writer.key(\"type\")")
                source.line("writer.string(Self.type)")
                structure.writeMembers(&source)
                source.line("writer.endObject()")
            }
        }
        return GeneratedFile(path: "\(SwiftEmitter.folder)/Errors/\(name).swift", text: source.text)
    }

    private var message: String {
        let sections = entry.messageSections.map { section in
            let parts = section.parts.enumerated().map { number, part in
                let isLast = section.parts[min(number + 1, section.parts.count - 1)].text.hasPrefix(".")
                return part.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                    + (part.placeholder.map { "\\(\(value($0, beforeStop: isLast)))" } ?? "")
            }.joined()
            let names = section.parts.compactMap(\.placeholder)
            if section.isOptional, let list = names.first(where: isList) {
                return "\\(\(SwiftNames.member(list)).isEmpty ? \"\" : \"\(parts)\")"
            }
            guard section.isOptional, let name = names.first(where: isOptional) else { return parts }
            let member = SwiftNames.member(name)
            return "\\(\(member).map { \(member) in \"\(parts)\" } ?? \"\")"
        }
        return "\"\(sections.joined())\""
    }

    private func value(_ name: String, beforeStop: Bool) -> String {
        let text = "MessageText.of(\(SwiftNames.member(name)))"
        return beforeStop ? "MessageText.beforeStop(\(text))" : text
    }

    private func isList(_ name: String) -> Bool { entry.data.contains { $0.name == name && $0.isRequired && $0.type.isArray } }

    private func isOptional(_ name: String) -> Bool { entry.data.contains { $0.name == name && !$0.isRequired } }
}
