/// Generates `types.py` and `testing/types.py`: a class for each object, and the values of each enumeration.
struct PythonRecords {
    let types: PythonTypes
    let definitions: PythonDefinitions

    var file: GeneratedFile {
        let isTesting = types.module == .testingTypes
        let up = isTesting ? "..." : ".."
        var source = PythonSource(
            from: "types and schemas/methods",
            doc: isTesting ? "The types of the methods `test.*`." : "The types of parameters and results.")
        source.line("from __future__ import annotations")
        source.line()
        source.line("from datetime import datetime")
        let hasUnions = definitions.records.contains { $0.object.union != nil }
        source.line("from typing import Any, \(hasUnions ? "Callable, " : "")Literal, Mapping, Sequence\(hasUnions ? ", Union" : "")")
        source.line()
        source.line("from \(up)_record import Record, list_of, map_of, member, \(hasUnions ? "other, union, " : "")utc")
        if isTesting { source.line("from .. import types") }
        for each in definitions.enumerations {
            source.line()
            source.list("\(each.name) = Literal[", each.values.map(PythonNames.literal), "]")
            if !each.description.isEmpty { source.doc(each.description) }
        }
        for each in definitions.ordered(types) { write(each, &source) }
        source.line()
        source.line()
        let names = definitions.enumerations.map(\.name) + definitions.records.flatMap(names(of:))
        source.list("__all__ = [", names.map(PythonNames.literal), "]")
        return source.file(isTesting ? "testing/types.py" : "types.py")
    }

    private func names(of record: PythonDefinitions.Record) -> [String] {
        record.object.union == nil ? [record.name] : [record.name, record.name + "Other", PythonNames.reader(record.name)]
    }

    private func write(_ record: PythonDefinitions.Record, _ source: inout PythonSource) {
        if let union = record.object.union { return write(union, record, &source) }
        source.line()
        source.line()
        source.block("class \(record.name)(Record)") { source in
            source.doc(record.description)
            if !record.object.properties.isEmpty { source.line() }
            for property in record.object.properties { write(property, of: record.name, &source) }
        }
    }

    /// Appends the class of unknown variants, the union and the function that reads it. The variants precede it.
    private func write(_ union: Union, _ record: PythonDefinitions.Record, _ source: inout PythonSource) {
        let (name, discriminator) = (record.name, PythonNames.member(union.discriminator, in: .record))
        let variants = union.variants.map { name + PythonNames.type($0.value) }
        source.line()
        source.line()
        source.block("class \(name)Other(Record)") { source in
            source.doc("A variant of a later version of Mintmark. `to_dict()` returns its members.")
            source.line()
            source.line("\(discriminator): Literal[\"other\"] = member(\(PythonNames.literal(union.discriminator)), other)")
            source.line("value: str = member(\(PythonNames.literal(union.discriminator)))")
            source.doc("The `\(discriminator)` as it was received.")
        }
        source.line()
        source.line()
        source.list("\(name) = Union[", variants + [name + "Other"], "]")
        source.doc(record.description + " `\(discriminator)` determines the class.")
        source.line()
        let wire = PythonNames.literal(union.discriminator)
        source.line("\(PythonNames.reader(name)): Callable[[Any], \(name)] = union(\(wire), \(name)Other, {")
        for (variant, own) in zip(union.variants, variants) { source.line("    \(PythonNames.literal(variant.value)): \(own),") }
        source.line("})")
    }

    private func write(_ property: Property, of record: String, _ source: inout PythonSource) {
        let nested = record + PythonNames.type(property.name)
        var arguments = [PythonNames.literal(property.name)]
        if let reader = types.reader(property.type, nested: nested) { arguments.append(reader) }
        if types.contract.isSecret(property.type) { arguments.append("secret=True") }
        if !property.isRequired { arguments.append("default=None") }
        let constant = property.constant.map { "Literal[\(PythonNames.literal($0))]" }
        let type = constant ?? types.result(property.type, nested: nested) + (property.isRequired ? "" : " | None")
        source.line("\(PythonNames.member(property.name, in: .record)): \(type) = member(\(arguments.joined(separator: ", ")))")
        source.doc(text(property))
    }

    /// Returns the description, with the values of an enumeration if it does not name all of them.
    private func text(_ property: Property) -> String {
        let text = types.description(property)
        guard property.constant == nil, case .enumeration(let values) = types.contract.resolve(property.type).shape,
            !values.allSatisfy(text.contains)
        else {
            return text
        }
        return text + " Known values: \(values.map { "`\($0)`" }.joined(separator: ", "))."
    }
}
