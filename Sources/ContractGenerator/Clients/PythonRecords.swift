import JSON

/// Generates `types.py`: a class for each object, and the values of each enumeration.
struct PythonRecords {
    let types: PythonTypes

    var file: GeneratedFile {
        var source = PythonSource(from: "types and schemas/methods", doc: "What calls take and answer.")
        source.line("from __future__ import annotations")
        source.line()
        source.line("from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Union, cast")
        source.line()
        source.line("from .._record import Record")
        let all = found
        for (name, values, description) in all.enumerations {
            source.line()
            if !description.isEmpty { source.line("# \(description)") }
            source.line("\(name) = Literal[\(values.map(PythonNames.literal).joined(separator: ", "))]")
        }
        for (name, object, description) in all.objects { record(name, object, description, &source) }
        source.line()
        source.line()
        source.line("__all__ = [")
        for name in all.enumerations.map(\.0) + all.objects.map(\.0) { source.line("    \(literal(name)),") }
        source.line("]")
        return GeneratedFile(path: "\(PythonEmitter.folder)/types.py", text: source.text)
    }

    // MARK: One record

    private func record(_ name: String, _ object: ObjectType, _ description: String, _ source: inout PythonSource) {
        source.line()
        source.line()
        source.block("class \(name)(Record)") { source in
            source.doc(description)
            source.line()
            source.line("__slots__ = ()")
            let names = object.properties.map { "(\(literal(member($0))), \(literal($0.name)))" }
            source.line("_members = (\(names.map { $0 + "," }.joined(separator: " ")))")
            let secrets = object.properties.filter { types.contract.isSecret($0.type) }.map { literal($0.name) }
            if !secrets.isEmpty { source.line("_secret = frozenset({\(secrets.joined(separator: ", "))})") }
            source.line()
            constructor(name, object, &source)
            for property in object.properties { reader(property, of: name, &source) }
        }
    }

    private func constructor(_ name: String, _ object: ObjectType, _ source: inout PythonSource) {
        let members = object.properties.filter(\.isRequired) + object.properties.filter { !$0.isRequired }
        let parameters = members.map { property in
            let type = open(property.type, types.parameter(property.type, nested: name + PythonNames.type(property.name)))
            return member(property) + (property.isRequired ? ": \(type)" : ": Optional[\(type)] = None")
        }
        source.block("def __init__", parts: ["self"] + (parameters.isEmpty ? [] : ["*"] + parameters), end: " -> None") { source in
            source.line("super().__init__({")
            for property in object.properties { source.line("    \(literal(property.name)): \(member(property)),") }
            source.line("})")
        }
    }

    /// Records also represent results, so their enumerations accept any string.
    private func open(_ type: Type, _ annotation: String) -> String {
        if case .enumeration = types.contract.resolve(type).shape { "str" } else { annotation }
    }

    private func reader(_ property: Property, of name: String, _ source: inout PythonSource) {
        let nested = name + PythonNames.type(property.name)
        let type = types.result(property.type, nested: nested)
        source.line()
        source.line("@property")
        source.block("def \(member(property))(self) -> \(property.isRequired ? type : "Optional[\(type)]")") { source in
            source.doc(text(property))
            PythonReading(types: types).body(property, nested: nested, &source)
        }
    }

    private func text(_ property: Property) -> String {
        guard case .enumeration(let values) = types.contract.resolve(property.type).shape else { return types.description(property) }
        return types.description(property) + " One of \(values.joined(separator: ", ")), or a value of a newer version."
    }

    private func member(_ property: Property) -> String { PythonNames.member(property.name, in: .record) }
    private func literal(_ text: String) -> String { PythonNames.literal(text) }

    // MARK: All records

    /// All objects and enumerations of the contract, including nested ones, in the order of their names.
    private var found: (objects: [(String, ObjectType, String)], enumerations: [(String, [String], String)]) {
        var objects: [String: (ObjectType, String)] = [:]
        var enumerations: [String: ([String], String)] = [:]
        func walk(_ type: Type, _ name: String) {
            switch type.shape {
            case .object(let object):
                objects[name] = (object, type.description ?? "What stands in \(name).")
                for property in object.properties { walk(property.type, name + PythonNames.type(property.name)) }
            case .enumeration(let values): enumerations[name] = (values, type.description ?? "")
            case .array(let element, _, _): walk(element, name)
            case .map(_, let values, _): walk(values, name)
            case .boolean, .integer, .string, .anyObject, .reference: break
            }
        }
        for type in types.contract.types { walk(type.type, type.name) }
        for method in types.contract.methods {
            let name = PythonNames.type(method.name)
            for property in method.params.properties { walk(property.type, name + PythonNames.type(property.name)) }
            walk(described(method.result, as: "The result of `\(method.name)`."), name + "Result")
        }
        for error in types.contract.errors {
            for property in error.data { walk(property.type, PythonNames.type(error.type) + PythonNames.type(property.name)) }
        }
        return (
            objects.sorted { $0.key < $1.key }.map { ($0.key, $0.value.0, $0.value.1) },
            enumerations.sorted { $0.key < $1.key }.map { ($0.key, $0.value.0, $0.value.1) }
        )
    }

    private func described(_ type: Type, as text: String) -> Type {
        Type(description: type.description ?? text, isSecret: type.isSecret, shape: type.shape)
    }
}

/// Generates the code that reads a member from a response.
struct PythonReading {
    let types: PythonTypes

    /// Appends the body of a property of a record or an error. Both have `_required` and `_optional`.
    func body(_ property: Property, nested: String, _ source: inout PythonSource) {
        let name = PythonNames.literal(property.name)
        guard !property.isRequired else {
            return source.line("return " + types.read(property.type, "self._required(\(name))", nested: nested))
        }
        source.line("value = self._optional(\(name))")
        source.line("return None if value is None else " + types.read(property.type, "value", nested: nested))
    }
}
