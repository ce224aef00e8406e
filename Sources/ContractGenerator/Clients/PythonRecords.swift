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
        source.line("from typing import Any, Literal, Mapping, Sequence")
        source.line()
        source.line("from \(up)_record import Record, list_of, map_of, member, utc")
        if isTesting { source.line("from .. import types") }
        for each in definitions.enumerations {
            source.line()
            source.list("\(each.name) = Literal[", each.values.map(PythonNames.literal), "]")
            if !each.description.isEmpty { source.doc(each.description) }
        }
        for each in definitions.ordered(types) { write(each, &source) }
        source.line()
        source.line()
        source.list("__all__ = [", (definitions.enumerations.map(\.name) + definitions.records.map(\.name)).map(PythonNames.literal), "]")
        return source.file(isTesting ? "testing/types.py" : "types.py")
    }

    private func write(_ record: PythonDefinitions.Record, _ source: inout PythonSource) {
        source.line()
        source.line()
        source.block("class \(record.name)(Record)") { source in
            source.doc(record.description)
            if !record.object.properties.isEmpty { source.line() }
            for property in record.object.properties { write(property, of: record.name, &source) }
        }
    }

    private func write(_ property: Property, of record: String, _ source: inout PythonSource) {
        let nested = record + PythonNames.type(property.name)
        var arguments = [PythonNames.literal(property.name)]
        if let reader = types.reader(property.type, nested: nested) { arguments.append(reader) }
        if types.contract.isSecret(property.type) { arguments.append("secret=True") }
        if !property.isRequired { arguments.append("default=None") }
        let type = types.result(property.type, nested: nested) + (property.isRequired ? "" : " | None")
        source.line("\(PythonNames.member(property.name, in: .record)): \(type) = member(\(arguments.joined(separator: ", ")))")
        source.doc(text(property))
    }

    /// Returns the description, with the values of an enumeration if it does not name all of them.
    private func text(_ property: Property) -> String {
        let text = types.description(property)
        guard case .enumeration(let values) = types.contract.resolve(property.type).shape, !values.allSatisfy(text.contains) else {
            return text
        }
        return text + " Known values: \(values.map { "`\($0)`" }.joined(separator: ", "))."
    }
}
