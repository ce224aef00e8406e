/// Generates the structs of the contract and the values of its enumerations.
struct GoRecords {
    let types: GoTypes

    func file(_ declarations: [GoDeclaration]) -> GeneratedFile {
        var source = GoSource(
            from: "types and schemas/methods", package: types.package,
            imports: types.package == .client ? ["encoding/json", "fmt"] : ["mintmark.localhost/mintmark"])
        var written: Set<String> = []
        for declaration in declarations.sorted(by: { name($0) < name($1) }) where written.insert(name(declaration)).inserted {
            source.line()
            switch declaration.type.shape {
            case .object(let object) where object.union != nil: union(declaration, object.union!, &source)
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
                var text = types.field($0, nested: nested, name: GoNames.exported($0.name), in: declaration.purpose)
                if let discriminator = declaration.discriminator, $0.constant != nil {
                    let type = $0.name == discriminator.name ? types.declarations.name(of: discriminator.type) : "string"
                    text = "\(GoNames.exported($0.name)) \(type) `json:\"\($0.name)\"`"
                }
                let constant = declaration.discriminator == nil ? nil : $0.constant.map { "Always `\($0)`." }
                return (constant ?? types.contract.description($0, time: ""), text)
            })
    }

    /// Declares a struct with the discriminator and the variant, which is a pointer to the struct of that variant.
    private func union(_ declaration: GoDeclaration, _ union: Union, _ source: inout GoSource) {
        let name = name(declaration)
        let member = GoNames.exported(union.discriminator)
        let type = types.declarations.name(of: name + member)
        let variants = union.variants.map { (type + GoNames.exported($0.value), name + GoNames.exported($0.value)) }
        source.doc(GoDocs.noun(name, declaration.description) + " \(member) determines the type of Variant.")
        source.block("type \(name) struct") { source in
            source.doc("The \(union.discriminator), which a newer Mintmark can add to.")
            source.line("\(member) \(type)")
            let names = variants.map { "*\($0.1)" }.joined(separator: ", ")
            source.doc("One of \(names), and *UnknownVariant.")
            source.line("Variant \(name)Variant")
        }
        source.line()
        source.doc("\(name)Variant is a variant of [\(name)].")
        source.line("type \(name)Variant interface{ is\(name)() }")
        source.line()
        let receivers = variants.map(\.1) + ["UnknownVariant"]
        let width = receivers.map(\.count).max() ?? 0
        for own in receivers {
            source.line("func (*\(own)) is\(name)()" + String(repeating: " ", count: width - own.count + 1) + "{}")
        }
        source.line()
        source.doc("UnmarshalJSON reads the variant that \(member) determines.")
        source.block("func (v *\(name)) UnmarshalJSON(text []byte) error") { source in
            source.line("var err error")
            source.line("if v.\(member), err = discriminator[\(type)](text, \(GoNames.literal(union.discriminator))); err != nil {")
            source.line("\treturn err")
            source.line("}")
            source.line("switch v.\(member) {")
            for (value, own) in variants {
                source.line("case \(value):")
                source.line("\tv.Variant = new(\(own))")
            }
            source.line("default:")
            source.line("\tv.Variant = new(UnknownVariant)")
            source.line("}")
            source.line("return decode(text, v.Variant)")
        }
        source.line()
        source.doc("MarshalJSON writes the members of the variant.")
        source.line("func (v \(name)) MarshalJSON() ([]byte, error) { return json.Marshal(v.Variant) }")
        source.line()
        source.doc("String returns the members of the variant without secrets.")
        source.line("func (v \(name)) String() string { return fmt.Sprint(v.Variant) }")
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
