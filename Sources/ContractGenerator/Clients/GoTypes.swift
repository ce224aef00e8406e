import JSON

/// Converts types of the contract to Go.
struct GoTypes {
    /// The package of a file. Types that only testing methods use belong to `mintmarktest`.
    enum Package: String {
        case client = "mintmark"
        case testing = "mintmarktest"
    }

    /// The use of a struct: parameters of a method, a result, or both.
    enum Purpose { case params, result, both }

    let contract: Contract
    let package: Package
    /// The types that each package declares.
    let declarations: GoDeclarations

    init(contract: Contract, package: Package, declarations: GoDeclarations) {
        self.contract = contract
        self.package = package
        self.declarations = declarations
    }

    /// Returns the type of a value.
    ///
    /// - Parameters:
    ///   - nested: The long name of an object or enumeration that is defined inline.
    ///   - isSecret: Whether the enclosing list or map is secret.
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

    /// Shared strings, numbers and lists become basic types. Times and secrets have types in handwritten files of the client.
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

    /// Returns the declaration of a struct member. An optional member is a pointer if its zero value differs from its absence. In
    /// parameters, `false` can differ from the default; in results, an absent string is empty.
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

    /// Returns the type of a method's result.
    func result(of method: Method) -> String { expression(method.result, nested: GoNames.exported(method.name) + "Result") }
}

/// A type that the Go client declares.
struct GoDeclaration {
    /// The name derived from the position of the definition: `AccountImportParamsFormat`.
    let longName: String
    let type: Type
    let description: String
    let purpose: GoTypes.Purpose
    /// For a variant, the name of the union's discriminator and the long name of its type.
    var discriminator: (name: String, type: String)?
}

/// All types that have a name in Go, by the package that declares them.
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
                error.data.flatMap {
                    Self.walk($0.type, named: GoNames.error(error.type) + GoNames.exported($0.name), $0.description, .result)
                }
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
            default: return walk(type.type, named: name, "", type.type.isClosed ? .both : .result)
            }
        }
    }

    private static func declared(by method: Method) -> [GoDeclaration] {
        let name = GoNames.exported(method.name)
        let params = Type(description: nil, isSecret: false, shape: .object(method.params))
        return
            (method.params.properties.isEmpty
            ? [] : walk(params, named: name + "Params", "The parameters of \(method.name).", .params))
            + walk(method.result, named: name + "Result", "The result of \(method.name).", .result)
    }

    /// Returns the objects and enumerations that are defined in this type, including nested ones.
    private static func walk(_ type: Type, named name: String, _ text: String, _ purpose: GoTypes.Purpose) -> [GoDeclaration] {
        let declaration = GoDeclaration(longName: name, type: type, description: type.description ?? text, purpose: purpose)
        switch type.shape {
        case .object(let object) where object.union != nil: return [declaration] + variants(object, name)
        case .object(let object):
            let inner = object.properties.flatMap { property in
                let inner = purpose == .params ? GoTypes.Purpose.both : purpose
                return walk(property.type, named: name + GoNames.exported(property.name), property.description, inner)
            }
            return [declaration] + inner
        case .enumeration: return [declaration]
        case .array(let element, _, _): return walk(element, named: name, text, purpose)
        case .map(_, let values, _): return walk(values, named: name, text, purpose)
        case .boolean, .integer, .string, .anyObject, .reference: return []
        }
    }

    /// Returns the type of the discriminator, and a struct for each variant.
    private static func variants(_ object: ObjectType, _ name: String) -> [GoDeclaration] {
        guard let union = object.union, let property = object.property(union.discriminator) else { return [] }
        let discriminator = (name: union.discriminator, type: name + GoNames.exported(union.discriminator))
        let variants = union.variants.flatMap { variant -> [GoDeclaration] in
            let own = name + GoNames.exported(variant.value)
            let type = Type(description: variant.description, isSecret: false, shape: .object(variant.object))
            let inner = variant.object.properties.filter { $0.constant == nil }.flatMap {
                walk($0.type, named: own + GoNames.exported($0.name), $0.description, .result)
            }
            return [
                GoDeclaration(
                    longName: own, type: type, description: "A variant of [\(name)]. " + variant.description, purpose: .result,
                    discriminator: discriminator)
            ] + inner
        }
        return [
            GoDeclaration(longName: discriminator.type, type: property.type, description: "The variant of [\(name)].", purpose: .result)
        ]
            + variants
    }

    /// Shortens the names of inline enumerations. The short name is that of the member if it has several words and is unique; otherwise, it
    /// is that of the method followed by that of the member. Enumerations with the same name must have the same values.
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

    /// Returns the member part of a long name if the member name has several words.
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
