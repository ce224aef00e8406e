import JSON

/// Generates the methods of one namespace, for the synchronous and the asyncio client.
struct PythonNamespaces {
    let types: PythonTypes
    let namespace: String
    let methods: [Method]

    private var isTesting: Bool { Self.isTesting(methods) }

    /// Returns whether the namespace is part of `mintmark.testing`.
    static func isTesting(_ methods: [Method]) -> Bool { methods.allSatisfy(\.isTesting) }

    var file: GeneratedFile {
        var source = PythonSource(from: "methods/\(namespace).*", doc: "The methods `\(namespace).*`.")
        source.line("from __future__ import annotations")
        source.line()
        source.line("from datetime import datetime")
        source.line("from typing import Any, AsyncIterator, Callable, Iterator, Mapping, Sequence")
        source.line()
        source.line("from ..._namespace import AsyncNamespace, Namespace, json_object")
        source.line("from .. import types")
        if isTesting { source.line("from . import types as testing_types") }
        for isAsync in [false, true] { write(isAsync: isAsync, &source) }
        return source.file((isTesting ? "testing/" : "namespaces/") + PythonNames.member(namespace) + ".py")
    }

    private func write(isAsync: Bool, _ source: inout PythonSource) {
        let prefix = isAsync ? "Async" : ""
        source.line()
        source.line()
        source.block("class \(prefix)\(PythonNames.type(namespace))Methods(\(prefix)Namespace)") { source in
            let same = isAsync ? " for asyncio. `\(PythonNames.type(namespace))Methods` describes the arguments." : "."
            source.doc("The methods `\(namespace).*`\(same)")
            for method in methods {
                write(method, isAsync: isAsync, &source)
                if let items = types.contract.listedMember(of: method) { pages(method, items, isAsync: isAsync, &source) }
            }
        }
    }

    private func write(_ method: Method, isAsync: Bool, _ source: inout PythonSource) {
        source.line()
        source.block(
            "\(isAsync ? "async " : "")def \(PythonNames.member(method.verb))", parts: parameters(method), end: " -> \(result(method))"
        ) { source in
            let docs = PythonDocs(types: types)
            source.doc(isAsync ? docs.short(method) : docs.full(method))
            let progress = method.progress == nil ? "" : ", progress"
            source.list(
                "return \(reader(method))(\(isAsync ? "await " : "")self._send(\(PythonNames.literal(method.name)), {", members(method),
                "}, timeout, trace\(progress)))")
        }
    }

    /// Appends the methods that iterate over the pages of a list, and over its items.
    private func pages(_ method: Method, _ items: Property, isAsync: Bool, _ source: inout PythonSource) {
        let name = PythonNames.member(method.verb)
        let iterator = isAsync ? "AsyncIterator" : "Iterator"
        let parameters = parameters(method, withProgress: false)
        source.line()
        source.block("def \(name)_pages", parts: parameters, end: " -> \(iterator)[\(result(method))]") { source in
            source.doc("Iterate over the pages of `\(name)`, which takes the same arguments. Pages are requested as needed.")
            source.list(
                "return self._pages(\(reader(method)), \(PythonNames.literal(method.name)), {", members(method), "}, timeout, trace)")
        }
        let nested = PythonTypes.result(of: method) + PythonNames.type(items.name)
        guard case .array(let element, _, _) = types.contract.resolve(items.type).shape else { return }
        source.line()
        source.block("def \(name)_all", parts: parameters, end: " -> \(iterator)[\(types.result(element, nested: nested))]") { source in
            source.doc("Iterate over the items of all pages of `\(name)`, which takes the same arguments. Pages are requested as needed.")
            let list = "page." + PythonNames.member(items.name, in: .record)
            let arguments = (method.params.properties.map(member) + ["timeout", "trace"]).map { "\($0)=\($0)" }
            source.list(
                "return (each \(isAsync ? "async " : "")for page in self.\(name)_pages(", arguments,
                ") for each in \(items.isRequired ? list : "\(list) or ()"))")
        }
    }

    private func parameters(_ method: Method, withProgress: Bool = true) -> [String] {
        let name = PythonNames.type(method.name)
        let properties = method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
        let parameters = properties.map { property in
            let type = types.parameter(property.type, nested: name + PythonNames.type(property.name))
            return member(property) + (property.isRequired ? ": \(type)" : ": \(type) | None = None")
        }
        let progress =
            withProgress ? method.progress.map { ["progress: Callable[[\(types.result($0, nested: ""))], Any] | None = None"] } : nil
        return ["self", "*"] + parameters + ["timeout: float | None = None", "trace: str | None = None"] + (progress ?? [])
    }

    private func members(_ method: Method) -> [String] {
        method.params.properties.map { "\(PythonNames.literal($0.name)): \(member($0))" }
    }

    private func result(_ method: Method) -> String { types.result(method.result, nested: PythonTypes.result(of: method)) }

    private func reader(_ method: Method) -> String {
        types.reader(method.result, nested: PythonTypes.result(of: method)) ?? "json_object"
    }

    private func member(_ property: Property) -> String { PythonNames.member(property.name, in: .method) }
}

/// Generates the docstrings of methods.
struct PythonDocs {
    let types: PythonTypes

    func full(_ method: Method) -> String {
        var text = method.summary
        if !method.description.isEmpty { text += "\n\n" + method.description }
        for choice in method.params.choices { text += "\n\n" + self.choice(choice) }
        if !method.equivalents.isEmpty {
            text += "\n\nEquivalent: " + method.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: ", ") + "."
        }
        let parameters = method.params.properties.map { "\n    " + parameter($0) }
        let progress = method.progress == nil ? [] : ["\n    progress: Called with each progress value while the call waits."]
        if !(parameters + progress).isEmpty { text += "\n\nArgs:" + (parameters + progress).joined() }
        return text + raises(method, withConditions: true)
    }

    /// Returns the summary and the exceptions.
    func short(_ method: Method) -> String { method.summary + raises(method, withConditions: false) }

    private func raises(_ method: Method, withConditions: Bool) -> String {
        if method.errors.isEmpty { return "" }
        let names = method.errors.map(PythonErrors.name)
        if !withConditions { return "\n\nRaises: " + names.joined(separator: ", ") + "." }
        let lines = zip(names, method.errors).map { "\n    \($0): \(types.contract.error($1)?.when ?? "")" }
        return "\n\nRaises:" + lines.joined()
    }

    private func parameter(_ property: Property) -> String {
        var range = ""
        if case .integer(let limits) = types.contract.resolve(property.type).shape, limits.upperBound < .max, limits.lowerBound > .min,
            !isTime(property.type)
        {
            range = " (\(limits.lowerBound)–\(limits.upperBound))"
        }
        return "\(PythonNames.member(property.name, in: .method))\(range): \(types.description(property))"
    }

    private func isTime(_ type: Type) -> Bool { if case .reference("Timestamp") = type.shape { true } else { false } }

    private func choice(_ choice: Choice) -> String {
        let names = choice.members.map { "`\(PythonNames.member($0, in: .method))`" }.joined(separator: ", ")
        return switch choice.rule {
        case .exactlyOne: "Exactly one of \(names) is required."
        case .atLeastOne: "At least one of \(names) is required."
        case .atMostOne: "At most one of \(names) is allowed."
        }
    }
}
