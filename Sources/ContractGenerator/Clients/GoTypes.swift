import JSON

/// How types of the contract are written in Go.
struct GoTypes {
    /// The package that a file belongs to. What only testing methods use is part of `mintmarktest`.
    enum Package: String {
        case client = "mintmark"
        case testing = "mintmarktest"
    }

    /// What a struct is for: the parameters of a method, a result, or both.
    enum Purpose { case params, result, both }

    let contract: Contract
    let package: Package
    /// The types that are declared in each package.
    let declarations: GoDeclarations

    init(contract: Contract, package: Package, declarations: GoDeclarations) {
        self.contract = contract
        self.package = package
        self.declarations = declarations
    }

    /// The type of a value.
    ///
    /// - Parameters:
    ///   - nested: the long name of an object or enumeration that is described in place.
    ///   - isSecret: whether the list or map around it is secret.
    func expression(_ type: Type, nested: String, isSecret: Bool = false) -> String {
        let isSecret = isSecret || type.isSecret
        return switch type.shape {
        case .boolean: "bool"
        case .integer: "int64"
        case .string: isSecret ? qualified("Secret") : "string"
        case .enumeration, .object: qualified(declarations.name(of: nested))
        case .array(let element, _, _): "[]" + expression(element, nested: nested, isSecret: isSecret)
        case .map(_, let values, _): "map[string]" + expression(values, nested: nested, isSecret: isSecret)
        case .anyObject: isSecret ? qualified("SecretMap") : "map[string]any"
        case .reference(let name): reference(name)
        }
    }

    /// Shared strings, numbers and lists are written as such; times and secrets are types of the client's own files.
    private func reference(_ name: String) -> String {
        if name == "Timestamp" { return qualified(name) }
        let type = contract.type(name)!.type
        return switch type.shape {
        case .boolean, .integer, .string, .reference, .array: expression(type, nested: GoNames.exported(name))
        case .enumeration, .object, .map, .anyObject: qualified(GoNames.exported(name))
        }
    }

    private func qualified(_ name: String) -> String {
        package == .testing && !declarations.testing.contains(name) ? "mintmark." + name : name
    }

    /// A member of a struct. An optional member is a pointer where its zero value differs from its absence: in parameters `false` can differ
    /// from the default; in results an absent text is empty.
    func field(_ property: Property, nested: String, name: String, in purpose: Purpose) -> String {
        let type = expression(property.type, nested: nested)
        let isPointer = !property.isRequired && zeroHasMeaning(property, purpose)
        let omit = property.isRequired ? "" : ",omitempty"
        return "\(name) \(isPointer ? "*" : "")\(type) `json:\"\(property.name)\(omit)\"`"
    }

    private func zeroHasMeaning(_ property: Property, _ purpose: Purpose) -> Bool {
        switch contract.resolve(property.type).shape {
        case .boolean: if case .bool(false)? = property.defaultValue { purpose != .params } else { true }
        case .integer(let range): range.contains(0)
        case .string(let rule): rule.length.lowerBound == 0 && purpose != .result
        case .object: true
        case .enumeration, .array, .map, .anyObject, .reference: false
        }
    }

    /// The type of a method's result.
    func result(of method: Method) -> String { expression(method.result, nested: GoNames.exported(method.name) + "Result") }
}

/// A type that the Go client declares.
struct GoDeclaration {
    /// The name that follows from where it is described: `AccountImportParamsFormat`.
    let longName: String
    let type: Type
    let description: String
    let purpose: GoTypes.Purpose
}

/// Every type that has a name of its own in Go, with the package that declares it.
struct GoDeclarations {
    let client: [GoDeclaration]
    let testingTypes: [GoDeclaration]
    /// The names of the types in `mintmarktest`.
    let testing: Set<String>
    private let shortNames: [String: String]

    init(contract: Contract) {
        var used = ReachableTypes(contract: contract)
        let production = contract.methods.filter { !$0.isTesting }
        used.add(resultsOf: production)
        used.add(paramsOf: production)
        used.addErrorsAndNotifications()
        let names = used.names
        client =
            Self.shared(contract) { names.contains($0) } + production.flatMap { Self.declared(by: $0) }
            + contract.errors.flatMap { error in
                error.data.flatMap { Self.walk($0.type, GoNames.error(error.type) + GoNames.exported($0.name), $0.description, .result) }
            }
        testingTypes =
            Self.shared(contract) { !names.contains($0) } + contract.methods.filter(\.isTesting).flatMap { Self.declared(by: $0) }
        shortNames = Self.shortened(client + testingTypes, in: contract)
        let short = shortNames
        testing = Set(testingTypes.map { short[$0.longName] ?? $0.longName })
    }

    func name(of longName: String) -> String { shortNames[longName] ?? longName }

    private static func shared(_ contract: Contract, where isWanted: (String) -> Bool) -> [GoDeclaration] {
        contract.types.filter { isWanted($0.name) }.flatMap { type -> [GoDeclaration] in
            let name = GoNames.exported(type.name)
            switch type.type.shape {
            case .map, .anyObject:
                return [GoDeclaration(longName: name, type: type.type, description: type.type.description ?? "", purpose: .both)]
            default: return walk(type.type, name, "", type.type.isClosed ? .both : .result)
            }
        }
    }

    private static func declared(by method: Method) -> [GoDeclaration] {
        let name = GoNames.exported(method.name)
        let params = Type(description: nil, isSecret: false, shape: .object(method.params))
        return
            (method.params.properties.isEmpty
            ? [] : walk(params, name + "Params", "The parameters of \(method.name).", .params))
            + walk(method.result, name + "Result", "The result of \(method.name).", .result)
    }

    /// The objects and enumerations that are described here and inside.
    private static func walk(_ type: Type, _ name: String, _ text: String, _ purpose: GoTypes.Purpose) -> [GoDeclaration] {
        let declaration = GoDeclaration(longName: name, type: type, description: type.description ?? text, purpose: purpose)
        switch type.shape {
        case .object(let object):
            let inner = object.properties.flatMap { property in
                let inner = purpose == .params ? GoTypes.Purpose.both : purpose
                return walk(property.type, name + GoNames.exported(property.name), property.description, inner)
            }
            return [declaration] + inner
        case .enumeration: return [declaration]
        case .array(let element, _, _): return walk(element, name, text, purpose)
        case .map(_, let values, _): return walk(values, name, text, purpose)
        case .boolean, .integer, .string, .anyObject, .reference: return []
        }
    }

    /// Enumerations that are described in place have shorter names: that of the member if it has several words and no other type has it,
    /// otherwise that of the method with that of the member. Those that have one name must have the same values.
    private static func shortened(_ all: [GoDeclaration], in contract: Contract) -> [String: String] {
        var taken = Set(all.map(\.longName) + contract.errors.map { GoNames.error($0.type) } + ["Options", "Client", "Pages", "Secret"])
        let shared = Set(contract.types.map { GoNames.exported($0.name) })
        var values: [String: [String]] = [:]
        var names: [String: String] = [:]
        for declaration in all {
            guard case .enumeration(let own) = declaration.type.shape, !shared.contains(declaration.longName) else { continue }
            let owner = declaration.longName
            let candidates = [member(of: owner, all), owner.replacing("Params", with: "").replacing("Result", with: "")].compactMap { $0 }
            for candidate in candidates where values[candidate] == own || !taken.contains(candidate) {
                names[owner] = candidate
                values[candidate] = own
                taken.insert(candidate)
                break
            }
        }
        return names
    }

    /// The part of a long name that is its member's, if that has several words.
    private static func member(of longName: String, _ all: [GoDeclaration]) -> String? {
        for declaration in all {
            guard case .object(let object) = declaration.type.shape, longName.hasPrefix(declaration.longName) else { continue }
            for property in object.properties where declaration.longName + GoNames.exported(property.name) == longName {
                return property.name.contains(where: \.isUppercase) ? GoNames.exported(property.name) : nil
            }
        }
        return nil
    }
}

extension Type {
    fileprivate var isClosed: Bool { if case .object(let object) = shape { object.isClosed } else { false } }
}
