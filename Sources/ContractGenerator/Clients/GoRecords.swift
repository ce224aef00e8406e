/// Writes the structs of the contract and the values of its enumerations.
struct GoRecords {
    let types: GoTypes

    var file: GeneratedFile {
        var source = GoSource(from: "types and schemas/methods", imports: ["encoding/json"])
        for (name, found) in found.sorted(by: { $0.key < $1.key }) {
            source.line()
            switch found.type.shape {
            case .object(let object): record(name, object, found.description, &source)
            case .enumeration(let values): enumeration(name, values, found.description, &source)
            default:
                source.doc("\(name): \(found.description)")
                source.line("type \(name) \(types.expression(found.type, nested: name))")
            }
        }
        return source.file("types")
    }

    private func record(_ name: String, _ object: ObjectType, _ description: String, _ source: inout GoSource) {
        source.doc("\(name): \(description)")
        for choice in object.choices { source.doc("\n" + sentence(choice)) }
        let isParams = types.contract.methods.contains { GoNames.exported($0.name) + "Params" == name }
        let purpose: GoTypes.Purpose = isParams ? .params : object.isClosed ? .both : .answer
        let members = object.properties.map {
            (types.description($0), types.field($0, nested: name + GoNames.exported($0.name), in: purpose))
        }
        source.fields(
            name, members + [("Unknown has the members that this client does not know.", "Unknown map[string]json.RawMessage `json:\"-\"`")]
        )
        source.line()
        source.doc("MarshalJSON writes all members that are there, those that this client does not know too.")
        source.block("func (v \(name)) MarshalJSON() ([]byte, error)") { $0.line("return marshalRecord(v)") }
        source.line()
        source.doc("UnmarshalJSON keeps what this client does not know.")
        source.block("func (v *\(name)) UnmarshalJSON(data []byte) error") { $0.line("return unmarshalRecord(data, v)") }
        source.line()
        source.doc("String shows no secrets.")
        source.block("func (v \(name)) String() string") { $0.line("return describe(v)") }
        source.line()
        source.doc("GoString shows no secrets.")
        source.block("func (v \(name)) GoString() string") { $0.line("return describe(v)") }
    }

    private func sentence(_ choice: Choice) -> String {
        let names = choice.members.map(GoNames.exported).joined(separator: ", ")
        return switch choice.rule {
        case .exactlyOne: "Exactly one of \(names) is given."
        case .atLeastOne: "At least one of \(names) is given."
        case .atMostOne: "At most one of \(names) is given."
        }
    }

    private func enumeration(_ name: String, _ values: [String], _ description: String, _ source: inout GoSource) {
        source.doc("\(name): \(description.isEmpty ? "one of the values below." : description) A newer Mintmark may answer others.")
        source.line("type \(name) string")
        for value in values {
            source.line()
            source.doc("\(name + GoNames.exported(value)) is the \(name) \(value).")
            source.line("const \(name + GoNames.exported(value)) \(name) = \(GoNames.literal(value))")
        }
    }

    /// Everything that has a name of its own in Go.
    private var found: [String: (type: Type, description: String)] {
        var found: [String: (type: Type, description: String)] = [:]
        func walk(_ type: Type, _ name: String, _ text: String) {
            switch type.shape {
            case .object(let object):
                found[name] = (type, type.description ?? text)
                for property in object.properties { walk(property.type, name + GoNames.exported(property.name), property.description) }
            case .enumeration: found[name] = (type, type.description ?? text)
            case .array(let element, _, _): walk(element, name, text)
            case .map(_, let values, _): walk(values, name, text)
            case .boolean, .integer, .string, .anyObject, .reference: break
            }
        }
        for type in types.contract.types {
            let name = GoNames.exported(type.name)
            walk(type.type, name, "")
            switch type.type.shape {
            case .map, .anyObject: found[name] = (type.type, type.type.description ?? "")
            default: break
            }
        }
        for method in types.contract.methods {
            let name = GoNames.exported(method.name)
            if !method.params.properties.isEmpty {
                walk(Type(description: nil, isSecret: false, shape: .object(method.params)), name + "Params", "what \(method.name) takes.")
            }
            walk(method.result, name + "Result", "what \(method.name) answers.")
        }
        for error in types.contract.errors {
            for property in error.data {
                walk(property.type, GoNames.error(error.type) + GoNames.exported(property.name), property.description)
            }
        }
        return found
    }
}
