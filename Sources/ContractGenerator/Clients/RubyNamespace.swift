/// Generates the methods of one namespace of the Ruby client.
struct RubyNamespace {
    let types: RubyTypes
    let name: String
    let methods: [Method]

    static func type(_ name: String) -> String { SwiftNames.type(name) + "Methods" }

    /// Returns whether the namespace is part of `mintmark/testing`.
    static func isTesting(_ methods: [Method]) -> Bool { methods.allSatisfy(\.isTesting) }

    var file: GeneratedFile {
        let isTesting = Self.isTesting(methods)
        var source = RubySource(from: "methods/\(name).*.json")
        source.line("require_relative \"\(isTesting ? "../" : "")../namespace\"")
        source.line()
        source.block("module Mintmark") { source in
            source.doc("The methods `\(name).*`.")
            source.block("class \(Self.type(name)) < Namespace") { source in
                for (number, method) in methods.enumerated() {
                    if number > 0 { source.line() }
                    write(method, &source)
                }
            }
        }
        return source.file((isTesting ? "testing/" : "") + RubyNames.member(name))
    }

    private func write(_ method: Method, _ source: inout RubySource) {
        let properties = method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
        let progress = method.progress == nil ? [] : ["progress"]
        let parameters =
            properties.map { RubyNames.member($0.name) + ($0.isRequired ? ":" : ": nil") }
            + (["timeout", "trace"] + progress).map { $0 + ": nil" }
        let members = properties.map { "\(RubyNames.literal($0.name)) => \(RubyNames.variable($0.name))" }
        source.doc(documentation(method, properties))
        source.list("def \(RubyNames.member(method.verb))(", parameters, ")")
        let tail = (["timeout", "trace"] + progress).joined(separator: ", ") + ")"
        source.list("  call(\(RubyNames.literal(method.name)), {", members, "}, " + tail)
        source.line("end")
    }

    private func documentation(_ method: Method, _ properties: [Property]) -> String {
        var parts = [method.summary]
        if !method.description.isEmpty { parts += ["", method.description] }
        if !method.equivalents.isEmpty {
            parts += ["", "Equivalent: " + method.equivalents.map { "\($0.vendor) \($0.name)" }.joined(separator: ", ") + "."]
        }
        parts.append("")
        for property in properties {
            let text = types.contract.description(property, time: "The time.")
            parts.append("@param \(RubyNames.member(property.name)) [\(types.documented(property.type))] \(text)")
        }
        if let progress = method.progress {
            let type = types.result(progress, nested: "")
            parts.append("@param progress [#call] Called with each {\(type)} while the call waits, in the calling thread.")
        }
        parts.append("@return [\(types.resultClass(of: method) ?? "Record")]")
        if !method.errors.isEmpty { parts.append("@raise [\(method.errors.map(SwiftNames.type).joined(separator: ", "))]") }
        return parts.joined(separator: "\n")
    }
}
