import JSON

/// Generates `Sources/Contract/Generated`.
struct SwiftEmitter: Emitter {
    static let folder = "Sources/Contract/Generated"

    func files(for contract: Contract) -> [GeneratedFile] {
        let types = SwiftTypes(contract: contract)
        let texts = ContractTexts(contract: contract)
        return contract.methods.map { MethodEmitter(types: types, method: $0, texts: texts).file }
            + contract.notifications.map { NotificationEmitter(types: types, notification: $0).file }
            + TypeFiles(types: types).all
            + contract.errors.map { ErrorEmitter(types: types, entry: $0).file }
            + contract.namespaces.map { HandlersEmitter(types: types, namespace: $0.name, methods: $0.methods).file }
            + [
                TableEmitter(contract: contract).methods, TableEmitter(contract: contract).errors,
                OpenRPCEmitter(contract: contract).swift(texts), texts.file,
            ]
    }
}

/// Generates one method: its parameters, its result and its metadata.
struct MethodEmitter {
    let types: SwiftTypes
    let method: Method
    let texts: ContractTexts

    var typeName: String { SwiftNames.type(method.name) }

    var file: GeneratedFile {
        var source = SwiftSource(from: "methods/\(method.name).json")
        let rule = SwiftNames.lowered(typeName)
        source.doc(method.summary + "\n\n" + method.description + equivalents)
        source.block("public enum \(typeName): ContractMethod") { source in
            StructEmitter(types: types, object: method.params, rule: rule, reads: true, writes: false, isEquatable: false)
                .emit("Params", doc: "The parameters of `\(method.name)`.", to: &source)
            source.line()
            result(&source, rule: rule)
            source.line()
            info(&source)
        }
        StringRules.write(StringRules.all(in: method.params, named: rule), to: &source)
        return GeneratedFile(path: "\(SwiftEmitter.folder)/Methods/\(typeName).swift", text: source.text)
    }

    private var equivalents: String {
        method.equivalents.isEmpty ? "" : "\n\n- Source: " + method.equivalents.map { "\($0.vendor): \($0.name)" }.joined(separator: "; ")
    }

    private func result(_ source: inout SwiftSource, rule: String) {
        guard case .object(let object) = method.result.shape else {
            source.doc("The result of `\(method.name)`.")
            source.line("public typealias Result = \(types.name(method.result, nested: "Result", .result))")
            return
        }
        StructEmitter(types: types, object: object, rule: rule, reads: false, writes: true, isEquatable: false)
            .emit("Result", doc: "The result of `\(method.name)`.", to: &source)
    }

    private func info(_ source: inout SwiftSource) {
        source.line("public static let info = MethodInfo(")
        source.line("    name: \"\(method.name)\",")
        source.line("    summary: \(SwiftNames.literal(method.summary)),")
        source.line("    description: \(SwiftNames.literal(method.description)),")
        source.line(
            "    caller: .\(SwiftNames.member(method.caller.rawValue)), isReadOnly: \(method.isReadOnly), isTesting: \(method.isTesting),")
        source.line("    level: .\(method.level), carriesSecrets: \(method.secrets ?? false), use: \(SwiftNames.literal(method.use)),")
        source.line("    next: [\(method.next.map { "\"\($0)\"" }.joined(separator: ", "))],")
        source.line("    cost: .\(method.cost.rawValue), costCases: [\(method.costCases.map(costCase).joined(separator: ", "))],")
        source.line("    errors: [\(method.errors.map { "\"\($0)\"" }.joined(separator: ", "))],")
        let names = method.equivalents.map { "VendorName(vendor: \"\($0.vendor)\", names: \(SwiftNames.literal($0.name)))" }
        source.line("    equivalents: [\(names.joined(separator: ", "))],")
        source.line("    texts: \(texts.places[method.name]!))")
    }

    private func costCase(_ each: Method.CostCase) -> String {
        let steps = each.steps.map { $0 == Method.CostCase.anyElement ? ".anyElement" : SwiftNames.literal($0) }
        let values = each.values.map { SwiftNames.literal($0) }
        return "CostCase(parameter: [\(steps.joined(separator: ", "))], values: [\(values.joined(separator: ", "))], cost: .\(each.cost))"
    }
}

/// Generates the shared types.
struct TypeFiles {
    let types: SwiftTypes

    var all: [GeneratedFile] {
        let params = used(from: types.contract.methods.map { Type(description: nil, isSecret: false, shape: .object($0.params)) })
        let results = used(
            from: types.contract.methods.map(\.result) + types.contract.notifications.map(\.params)
                + types.contract.errors.flatMap { $0.data.map(\.type) })
        return types.contract.types.compactMap { file($0, reads: params.contains($0.name), writes: results.contains($0.name)) }
    }

    private func file(_ type: NamedType, reads: Bool, writes: Bool) -> GeneratedFile? {
        var source = SwiftSource(from: "types/\(type.name).json")
        let rule = SwiftNames.lowered(type.name)
        switch type.type.shape {
        case .object(let object) where object.union != nil:
            UnionEmitter(types: types, union: object.union!, rule: rule).emit(type.name, doc: type.type.description, to: &source)
        case .object(let object):
            StructEmitter(types: types, object: object, rule: rule, reads: reads, writes: writes)
                .emit(type.name, doc: type.type.description, to: &source)
        case .enumeration(let values): EnumEmitter(values: values).emit(type.name, doc: type.type.description, to: &source)
        default: break
        }
        if reads { StringRules.write(StringRules.all(in: type.type, named: rule), to: &source) }
        return source.isEmpty ? nil : GeneratedFile(path: "\(SwiftEmitter.folder)/Types/\(type.name).swift", text: source.text)
    }

    /// Returns the shared types that are reachable from `roots`.
    private func used(from roots: [Type]) -> Set<String> {
        var found: Set<String> = []
        func walk(_ type: Type) {
            switch type.shape {
            case .reference(let name): if found.insert(name).inserted { walk(types.contract.type(name)!.type) }
            case .array(let element, _, _): walk(element)
            case .map(let names, let values, _):
                names.map(walk)
                walk(values)
            case .object(let object): object.properties.forEach { walk($0.type) }
            case .boolean, .integer, .string, .enumeration, .anyObject: break
            }
        }
        roots.forEach(walk)
        return found
    }
}
