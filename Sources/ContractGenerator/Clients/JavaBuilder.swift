/// Generates the builder of a record, because Java has no named arguments.
struct JavaBuilder {
    let types: JavaTypes
    let name: String
    let members: [JavaRecords.Member]

    func write(_ source: inout JavaSource) {
        source.line()
        source.doc("A new builder.", tags: ["@return a builder of which nothing is said yet"])
        source.block("public static Builder builder()") { $0.line("return new Builder();") }
        source.line()
        source.doc("A builder that begins with what this has.", tags: ["@return a builder"])
        source.block("public Builder toBuilder()") { source in
            source.line("var builder = new Builder();")
            for member in members { source.line("builder.\(member.name) = \(member.name);") }
            source.line("builder.unknown.putAll(unknown);")
            source.line("return builder;")
        }
        source.line()
        source.doc("Makes a \(name).")
        source.block("public static final class Builder") { source in
            for member in members {
                source.line("private \(types.expression(member.property.type, nested: member.nested)) \(member.name);")
            }
            source.line("private final Map<String, Object> unknown = Records.members();")
            source.line()
            source.block("private Builder()") { _ in }
            for member in members { setter(member, &source) }
            source.line()
            source.doc(
                "Says what this client does not know.",
                tags: ["@param name a member's name on the wire", "@param value its JSON", "@return this"])
            source.block("public Builder unknown(String name, Object value)") { source in
                source.line("unknown.put(name, value);")
                source.line("return this;")
            }
            source.line()
            source.doc("Makes it.", tags: ["@return the \(name)", "@throws IllegalArgumentException if something is missing"])
            source.block("public \(name) build()") { source in
                let values = members.map {
                    $0.property.isRequired ? "Records.required(\(JavaNames.literal($0.name)), \($0.name))" : $0.name
                }
                source.list("return new \(name)", values + ["Records.copy(unknown)"], ");")
            }
        }
    }

    private func setter(_ member: JavaRecords.Member, _ source: inout JavaSource) {
        let type = types.argument(member.property, nested: member.nested)
        let isCopied = type.hasPrefix("List<") || type.hasPrefix("Map<")
        source.line()
        source.doc(types.description(member.property), tags: ["@param \(member.name) it", "@return this"])
        source.block("public Builder \(member.name)(\(type) \(member.name))") { source in
            source.line("this.\(member.name) = \(isCopied ? "Records.copy(\(member.name))" : member.name);")
            source.line("return this;")
        }
    }
}
