/// Generates the table of known members, from which the client hides secrets and members that it does not know.
///
/// A line has the name of a class, a method with `=` in front, or an error with `!` in front, then its members. A member with `!` is a
/// secret; one with `:` and a class is an object, or a list or map of such objects.
struct JavaShapes {
    let records: JavaRecords
    private var contract: Contract { records.types.contract }

    var file: GeneratedFile {
        var rows: [String] = []
        for type in contract.types {
            guard case .object(let object) = type.type.shape else { continue }
            add(object.properties, [SwiftNames.type(type.name)], &rows)
        }
        for method in contract.methods {
            let path = [JavaNames.params(method)]
            if !method.params.properties.isEmpty { add(method.params.properties, path, &rows) }
            if case .object(let object) = method.result.shape { add(object.properties, [JavaNames.result(method)], &rows) }
            let (resolved, result) = records.types.unwrapped(method.result, nested: JavaNames.result(method))
            if case .object = resolved.shape { rows.append("=\(method.name) \(result)") }
        }
        for error in contract.errors { add(error.data, key: "!" + error.type, [JavaNames.error(error.type)], &rows) }
        var source = JavaSource(from: "methods, types and errors.json", package: .client)
        source.doc("The known members of all objects. See {@link Shapes}.")
        source.block("final class ShapeTable") { source in
            source.line("static final String TEXT = \"\"\"")
            for row in rows { wrap(row, &source) }
            source.line("        \"\"\";")
            source.line()
            source.line("private ShapeTable() {}")
        }
        return source.file("ShapeTable")
    }

    private func add(_ properties: [Property], key: String? = nil, _ path: [String], _ rows: inout [String]) {
        let members = records.types.members(properties, within: path, named: JavaNames.member)
        let words = members.map { member in
            if contract.isSecret(member.property.type) { return member.property.name + "!" }
            let nested = target(member.property.type, path: path + [member.nested])
            return member.property.name + (nested.map { ":" + $0 } ?? "")
        }
        rows.append(([key ?? path.joined(separator: ".")] + words).joined(separator: " "))
        for member in members {
            if let (object, nested) = inline(member.property.type, path: path + [member.nested]) { add(object.properties, nested, &rows) }
        }
    }

    /// Returns the class of the objects in a value, or `nil`.
    private func target(_ type: Type, path: [String]) -> String? {
        switch type.shape {
        case .object: path.joined(separator: ".")
        case .array(let element, _, _): target(element, path: path)
        case .map(_, let values, _): target(values, path: path)
        case .reference(let name): target(contract.type(name)!.type, path: [SwiftNames.type(name)])
        case .boolean, .integer, .string, .enumeration, .anyObject: nil
        }
    }

    private func inline(_ type: Type, path: [String]) -> (ObjectType, [String])? {
        switch type.shape {
        case .object(let object): (object, path)
        case .array(let element, _, _): inline(element, path: path)
        case .map(_, let values, _): inline(values, path: path)
        case .boolean, .integer, .string, .enumeration, .anyObject, .reference: nil
        }
    }

    /// A backslash at the end continues the line.
    private func wrap(_ row: String, _ source: inout JavaSource) {
        var current = ""
        for word in row.split(separator: " ") {
            if !current.isEmpty, current.count + word.count > 118 {
                source.line("        " + current + " \\")
                current = ""
            }
            current += (current.isEmpty ? "" : " ") + word
        }
        source.line("        " + current)
    }
}
