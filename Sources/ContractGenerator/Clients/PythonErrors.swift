import JSON

/// Generates `errors.py`: an exception class for each error.
struct PythonErrors {
    let types: PythonTypes

    var file: GeneratedFile {
        var source = PythonSource(from: "errors.json", doc: "One exception class for each error a call can be answered with.")
        source.line("from typing import Dict, List, Optional, Type, cast")
        source.line()
        source.line("from .._errors import AnsweredError")
        source.line("from . import types")
        for entry in types.contract.errors { write(entry, &source) }
        source.line()
        source.line()
        source.line("# Every class by the `type` its answers carry.")
        source.line("BY_TYPE: Dict[str, Type[AnsweredError]] = {")
        for entry in types.contract.errors { source.line("    \(PythonNames.literal(entry.type)): \(PythonNames.type(entry.type)),") }
        source.line("}")
        source.line()
        source.line("__all__ = [")
        for entry in types.contract.errors { source.line("    \(PythonNames.literal(PythonNames.type(entry.type))),") }
        source.line("]")
        return GeneratedFile(path: "\(PythonEmitter.folder)/errors.py", text: source.text)
    }

    private func write(_ entry: ErrorEntry, _ source: inout PythonSource) {
        source.line()
        source.line()
        source.block("class \(PythonNames.type(entry.type))(AnsweredError)") { source in
            source.doc(entry.when + equivalents(entry))
            source.line()
            source.line("code = \(entry.code)")
            source.line("type = \(PythonNames.literal(entry.type))")
            for property in entry.data {
                let nested = PythonNames.type(entry.type) + PythonNames.type(property.name)
                let type = types.result(property.type, nested: nested)
                source.line()
                source.line("@property")
                let name = PythonNames.member(property.name, in: .error)
                source.block("def \(name)(self) -> \(property.isRequired ? type : "Optional[\(type)]")") { source in
                    source.doc(types.description(property))
                    PythonReading(types: types).body(property, nested: nested, &source)
                }
            }
        }
    }

    private func equivalents(_ entry: ErrorEntry) -> String {
        entry.equivalents.isEmpty ? "" : "\n\n" + entry.equivalents.map { "\($0.vendor): \($0.name)" }.joined(separator: "\n")
    }
}
