/// Generates `errors.py`: an exception class for each error.
struct PythonErrors {
    let types: PythonTypes

    /// Returns the name of the class: `PoolNotFoundError`.
    static func name(_ type: String) -> String {
        let name = PythonNames.type(type)
        return name.hasSuffix("Error") ? name : name + "Error"
    }

    var file: GeneratedFile {
        var source = PythonSource(from: "errors.json", doc: "The exceptions for the errors that Mintmark returns.")
        source.line("from __future__ import annotations")
        source.line()
        source.line("from datetime import datetime")
        source.line("from typing import Dict, Sequence, Type")
        source.line()
        source.line("from .._errors import APIError, detail as _detail")
        source.line("from .._record import list_of, map_of, utc")
        source.line("from . import types")
        for entry in types.contract.errors { write(entry, &source) }
        source.line()
        source.line()
        source.line("# The classes by `type`.")
        source.list(
            "BY_TYPE: Dict[str, Type[APIError]] = {each.type: each for each in (", types.contract.errors.map { Self.name($0.type) }, ")}")
        source.line()
        source.list("__all__ = [", types.contract.errors.map { PythonNames.literal(Self.name($0.type)) }, "]")
        return source.file("errors.py")
    }

    private func write(_ entry: ErrorEntry, _ source: inout PythonSource) {
        source.line()
        source.line()
        source.block("class \(Self.name(entry.type))(APIError)") { source in
            source.doc(entry.when)
            source.line()
            source.line("code = \(entry.code)")
            source.line("type = \(PythonNames.literal(entry.type))")
            // The base class has these two.
            for property in entry.data where property.name != "method" && property.name != "retryAfterSeconds" {
                let nested = PythonNames.type(entry.type) + PythonNames.type(property.name)
                var arguments = [PythonNames.literal(property.name)]
                if let reader = types.reader(property.type, nested: nested) { arguments.append(reader) }
                if !property.isRequired { arguments.append("optional=True") }
                let type = types.result(property.type, nested: nested) + (property.isRequired ? "" : " | None")
                source.line("\(PythonNames.member(property.name, in: .error)): \(type) = _detail(\(arguments.joined(separator: ", ")))")
                source.doc(types.description(property))
            }
        }
    }
}
