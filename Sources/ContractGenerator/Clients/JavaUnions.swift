/// Generates a sealed interface for an object with variants, with a class for each variant.
struct JavaUnions {
    let records: JavaRecords
    let name: String
    let object: ObjectType
    let union: Union
    private var types: JavaTypes { records.types }

    /// The members that every variant has and requires, without the discriminator.
    private var common: [JavaTypes.Member] {
        let properties = object.properties.filter { property in
            let isInline =
                switch property.type.shape {
                case .enumeration, .object: true
                default: false
                }
            return property.isRequired && property.name != union.discriminator && !isInline
        }
        return types.members(properties, within: [name], named: JavaNames.member)
    }

    func write(about: String, _ source: inout JavaSource) {
        let discriminator = JavaNames.member(union.discriminator)
        source.doc(
            JavaDocs.html(about) + "\nThe variants are the nested classes. With Java 21, <code>switch</code> distinguishes them; before, "
                + "<code>instanceof</code> does.")
        source.block("public sealed interface \(name) extends JsonRecord") { source in
            source.doc("{@return the name of the variant in JSON, also if this client does not know it}")
            source.line("String \(discriminator)();")
            for member in common {
                source.line()
                source.doc(JavaDocs.getter(types.description(member.property)))
                source.line("\(types.result(member)) \(member.name)();")
            }
            source.line()
            source.doc(
                "{@return the variant that the JSON has; an {@link Other} if this client does not know it}",
                tags: ["@param json the members, which must not change"])
            source.block("static \(name) of(Map<String, Object> json)") { source in
                source.line("return switch (String.valueOf(json.get(\(JavaNames.literal(union.discriminator))))) {")
                for variant in union.variants {
                    source.line("    case \(JavaNames.literal(variant.value)) -> new \(SwiftNames.type(variant.value))(json);")
                }
                source.line("    default -> new Other(json);")
                source.line("};")
            }
            for variant in union.variants {
                source.line()
                source.doc(JavaDocs.html(variant.description))
                write(SwiftNames.type(variant.value), variant.members, &source)
            }
            source.line()
            source.doc("A variant that this client does not know. {@link #toJson} has its members.")
            write("Other", ObjectType(properties: [], isClosed: false, choices: []), &source)
        }
    }

    private func write(_ variant: String, _ object: ObjectType, _ source: inout JavaSource) {
        let discriminator = JavaNames.member(union.discriminator)
        let inherited = common
        source.block("final class \(variant) extends Result implements \(name)") { source in
            source.line("\(variant)(Map<String, Object> json) { super(json); }")
            source.line()
            source.line(
                "@Override public String \(discriminator)() { return json().text(\(JavaNames.literal(union.discriminator))); }")
            for member in inherited {
                source.line()
                source.short("@Override public \(types.result(member)) \(member.name)()", "return \(types.read(member));")
            }
            let members = types.members(object, within: [name, variant])
            for member in members where !inherited.contains(where: { $0.name == member.name }) { records.getter(member, &source) }
            records.nested(members, path: [name, variant], .init(isRead: true, isWritten: false, isStatic: true), &source)
        }
    }
}
