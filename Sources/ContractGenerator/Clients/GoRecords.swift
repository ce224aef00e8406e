/// Generates the structs of the contract and the values of its enumerations.
struct GoRecords {
    let types: GoTypes

    func file(_ declarations: [GoDeclaration]) -> GeneratedFile {
        var source = GoSource(
            from: "types and schemas/methods", package: types.package,
            imports: types.package == .client ? [] : ["mintmark.localhost/mintmark"])
        var written: Set<String> = []
        for declaration in declarations.sorted(by: { name($0) < name($1) }) where written.insert(name(declaration)).inserted {
            source.line()
            switch declaration.type.shape {
            case .object(let object): record(declaration, object, &source)
            case .enumeration(let values): enumeration(declaration, values, &source)
            default:
                source.doc(GoDocs.noun(name(declaration), declaration.description))
                let isAlias = declaration.type.isSecret && declaration.type.isAnyObject
                let expression = types.expression(declaration.type, nested: name(declaration))
                source.line("type \(name(declaration)) \(isAlias ? "= " : "")\(expression)")
            }
        }
        return source.file("types")
    }

    private func name(_ declaration: GoDeclaration) -> String { types.declarations.name(of: declaration.longName) }

    private func record(_ declaration: GoDeclaration, _ object: ObjectType, _ source: inout GoSource) {
        source.doc(GoDocs.noun(name(declaration), declaration.description))
        for choice in object.choices { source.doc("\n" + sentence(choice)) }
        source.fields(
            name(declaration),
            object.properties.map {
                let nested = declaration.longName + GoNames.exported($0.name)
                let text = types.field($0, nested: nested, name: GoNames.exported($0.name), in: declaration.purpose)
                return (types.contract.description($0, time: ""), text)
            })
    }

    private func sentence(_ choice: Choice) -> String {
        let names = choice.members.map(GoNames.exported).joined(separator: ", ")
        return switch choice.rule {
        case .exactlyOne: "Exactly one of \(names) must be set."
        case .atLeastOne: "At least one of \(names) must be set."
        case .atMostOne: "At most one of \(names) can be set."
        }
    }

    private func enumeration(_ declaration: GoDeclaration, _ values: [String], _ source: inout GoSource) {
        let name = name(declaration)
        let text = declaration.description.isEmpty ? "one of the values below." : declaration.description
        source.doc(GoDocs.noun(name, text) + " A newer Mintmark can return other values.")
        source.line("type \(name) string")
        source.line()
        source.doc("The values of \(name).")
        source.constants(values.map { (name + GoNames.exported($0), "\(name) = \(GoNames.literal($0))") })
    }
}

extension Type {
    fileprivate var isAnyObject: Bool { if case .anyObject = shape { true } else { false } }
}
