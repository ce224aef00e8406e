/// Generates records and the types that are nested in them.
struct JavaRecords {
    let types: JavaTypes

    /// Generates a record for an object, with a builder if programs create it, or a record around the text for an enumeration. Does nothing
    /// for other types.
    ///
    /// - Parameters:
    ///   - within: The enclosing types, outermost first.
    ///   - isMade: Whether programs create the record, not only Mintmark.
    func write(_ type: Type, _ name: String, within: [String], about: String, isMade: Bool, _ source: inout JavaSource) {
        switch type.shape {
        case .object(let object):
            source.line()
            record(object, name, within: within, about: type.description ?? about, isMade: isMade || object.isClosed, &source)
        case .enumeration(let values):
            source.line()
            enumeration(values, name, about: type.description ?? about, &source)
        case .array(let element, _, _): write(element, name, within: within, about: about, isMade: isMade, &source)
        case .map(_, let values, _): write(values, name, within: within, about: about, isMade: isMade, &source)
        case .boolean, .integer, .string, .anyObject, .reference: break
        }
    }

    /// A member and its Java declaration.
    struct Member {
        let property: Property
        let name: String
        let nested: String
        let type: String
        let isSecret: Bool
    }

    private func record(
        _ object: ObjectType, _ name: String, within: [String], about: String, isMade: Bool, _ source: inout JavaSource
    ) {
        let around = within + [name]
        let members = object.properties.map { property in
            let nested = JavaNames.nested(property.name, within: around)
            return Member(
                property: property, name: JavaNames.member(property.name), nested: nested, type: types.member(property, nested: nested),
                isSecret: types.contract.isSecret(property.type))
        }
        let tags = members.map { "@param \($0.name) \(types.description($0.property))\($0.property.isRequired ? "" : " May be null.")" }
        source.doc(
            ([about] + object.choices.map(sentence)).joined(separator: "\n"),
            tags: tags + ["@param unknown the members that this client does not know"])
        source.list(
            "public record \(name)", members.map { "\($0.type) \($0.name)" } + ["Map<String, Object> unknown"], ") implements JsonRecord {")
        source.indented { source in
            read(name, members, &source)
            source.line()
            source.line("@Override")
            source.block("public Map<String, Object> toJson()") { $0.line("return Records.json(this::tell);") }
            source.line()
            source.doc("Shows no secrets.")
            source.line("@Override")
            source.block("public String toString()") { $0.line("return Records.text(\(JavaNames.literal(name)), this::tell);") }
            source.line()
            source.block("private void tell(Sink sink)") { source in
                for member in members {
                    let verb = member.isSecret ? "secret" : types.isFree(member.property.type) ? "free" : "put"
                    source.line("sink.\(verb)(\(JavaNames.literal(member.property.name)), \(member.name));")
                }
                source.line("sink.unknown(unknown);")
            }
            if isMade { JavaBuilder(types: types, name: name, members: members).write(&source) }
            for member in members {
                write(
                    member.property.type, member.nested, within: around, about: types.description(member.property), isMade: isMade,
                    &source)
            }
        }
    }

    private func read(_ name: String, _ members: [Member], _ source: inout JavaSource) {
        source.doc(
            "Reads it from JSON.",
            tags: [
                "@param json its members, by their names on the wire", "@return the record",
                "@throws IllegalArgumentException if a member is not what it should be",
            ])
        source.block("public static \(name) of(Map<String, ?> json)") { source in
            source.line("var members = new Members(json);")
            let reads = members.map { member in
                let wire = JavaNames.literal(member.property.name)
                return switch member.type {
                case "long": "members.number(\(wire))"
                case "boolean": "members.truth(\(wire))"
                default: "members.get(\(wire), \(types.reader(member.property.type, nested: member.nested)))"
                }
            }
            source.list("return new \(name)", reads + ["members.rest()"], ");")
        }
    }

    private func enumeration(_ values: [String], _ name: String, about: String, _ source: inout JavaSource) {
        source.doc(
            "\(about.isEmpty ? "One of the values below." : about) Newer versions of Mintmark can add values.",
            tags: ["@param value its text on the wire"])
        source.block("public record \(name)(String value) implements JsonText") { source in
            for value in values {
                source.doc("The \(name) \(value).")
                source.line("public static final \(name) \(JavaNames.constant(value)) = new \(name)(\(JavaNames.literal(value)));")
                source.line()
            }
            source.line("@Override")
            source.block("public String toString()") { $0.line("return value;") }
        }
    }

    private func sentence(_ choice: Choice) -> String {
        let names = choice.members.map(JavaNames.member).joined(separator: ", ")
        return switch choice.rule {
        case .exactlyOne: "Exactly one of \(names) is given."
        case .atLeastOne: "At least one of \(names) is given."
        case .atMostOne: "At most one of \(names) is given."
        }
    }
}
