import JSON

/// Generates the methods of one namespace, for the synchronous and the asyncio client.
struct PythonNamespaces {
    let types: PythonTypes
    let namespace: String
    let methods: [Method]

    var file: GeneratedFile {
        var source = PythonSource(from: "methods/\(namespace).*", doc: "The methods `\(namespace).*`.")
        source.line("from typing import Any, Dict, List, Mapping, Optional, Sequence, Union, cast")
        source.line()
        source.line("from ..._calls import AsyncCall, Call")
        source.line("from .. import types")
        write(isAsync: false, &source)
        write(isAsync: true, &source)
        return GeneratedFile(path: "\(PythonEmitter.folder)/namespaces/\(PythonNames.member(namespace)).py", text: source.text)
    }

    private func write(isAsync: Bool, _ source: inout PythonSource) {
        let name = (isAsync ? "Async" : "") + PythonNames.type(namespace) + "Methods"
        source.line()
        source.line()
        source.block("class \(name)") { source in
            source.doc("`\(namespace).*`\(isAsync ? ", to be awaited" : "").")
            source.line()
            source.block("def __init__(self, call: \(isAsync ? "AsyncCall" : "Call")) -> None") { $0.line("self._call = call") }
            for method in methods { write(method, isAsync: isAsync, &source) }
        }
    }

    private func write(_ method: Method, isAsync: Bool, _ source: inout PythonSource) {
        let name = PythonNames.type(method.name)
        let properties = method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
        let parameters = properties.map { property in
            let type = types.parameter(property.type, nested: name + PythonNames.type(property.name))
            return member(property) + (property.isRequired ? ": \(type)" : ": Optional[\(type)] = None")
        }
        let common = ["timeout: Optional[float] = None", "trace: Optional[str] = None"]
        source.line()
        source.block(
            "\(isAsync ? "async " : "")def \(PythonNames.member(method.verb))", parts: ["self", "*"] + parameters + common,
            end: " -> \(types.result(method.result, nested: name + "Result"))"
        ) { source in
            source.doc(PythonDocs(types: types).method(method))
            let members = method.params.properties.map { "\(PythonNames.literal($0.name)): \(member($0))" }
            if members.count < 3 {
                source.line("params: Dict[str, Any] = {\(members.joined(separator: ", "))}")
            } else {
                source.line("params: Dict[str, Any] = {")
                for each in members { source.line("    \(each),") }
                source.line("}")
            }
            source.line("answer = \(isAsync ? "await " : "")self._call(\(PythonNames.literal(method.name)), params, timeout, trace)")
            source.line("return " + types.read(method.result, "answer", nested: name + "Result"))
        }
    }

    private func member(_ property: Property) -> String { PythonNames.member(property.name, in: .method) }
}

/// Generates the docstrings of methods.
struct PythonDocs {
    let types: PythonTypes

    func method(_ method: Method) -> String {
        var text = method.summary + "\n\n" + method.description
        if method.isTesting { text += "\n\nOnly with `testing=True`." }
        for choice in method.params.choices { text += "\n\n" + self.choice(choice) }
        text += "\n\nArgs:"
        for property in method.params.properties { text += "\n    " + parameter(property) }
        text += "\n    timeout: Seconds to wait for the answer; without it the client's timeout holds."
        text += "\n    trace: Echoed, and named in the logs and in the audit trail; at most 128 characters."
        if !method.errors.isEmpty {
            text += "\n\nRaises:"
            for type in method.errors { text += "\n    \(PythonNames.type(type)): \(types.contract.error(type)?.when ?? "")" }
        }
        if !method.equivalents.isEmpty {
            text += "\n\nElsewhere: " + method.equivalents.map { "\($0.vendor): \($0.name)" }.joined(separator: "; ") + "."
        }
        return text
    }

    private func parameter(_ property: Property) -> String {
        let limits = FieldText(contract: types.contract).of(property.type)
        let absent = property.defaultValue.map { "; default \($0.text)" } ?? (property.isRequired ? "" : "; optional")
        return "\(PythonNames.member(property.name, in: .method)) (\(limits)\(absent)): \(types.description(property))"
    }

    private func choice(_ choice: Choice) -> String {
        let names = choice.members.map { PythonNames.member($0, in: .method) }.joined(separator: ", ")
        return switch choice.rule {
        case .exactlyOne: "Exactly one of \(names) must be given."
        case .atLeastOne: "At least one of \(names) must be given."
        case .atMostOne: "At most one of \(names) can be given."
        }
    }
}
