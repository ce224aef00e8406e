/// The variants of an object: `oneOf` with `discriminator` in the schema. Only shared types have variants.
struct Union {
    /// The name of the member that determines the variant, such as `state`.
    let discriminator: String
    let variants: [Variant]

    struct Variant {
        /// The value of the discriminator, such as `codeRequired`.
        let value: String
        let description: String
        /// The members, including the discriminator, whose type is the enumeration of `value` alone.
        let object: ObjectType
        private let discriminator: String

        init(value: String, description: String, object: ObjectType, discriminator: String) {
            self.value = value
            self.description = description
            self.object = object
            self.discriminator = discriminator
        }

        /// The members without the discriminator.
        var members: ObjectType {
            ObjectType(properties: object.properties.filter { $0.name != discriminator }, isClosed: object.isClosed, choices: [])
        }
    }

    /// Returns the object with the members of all variants, for readers that do not know variants.
    var object: ObjectType {
        var names: [String] = []
        for variant in variants { names += variant.object.properties.map(\.name).filter { !names.contains($0) } }
        return ObjectType(properties: names.map(property), isClosed: false, choices: [], union: self)
    }

    private func property(_ name: String) -> Property {
        if name == discriminator { return discriminatorProperty }
        let having = variants.filter { $0.object.property(name) != nil }
        let first = having[0].object.property(name)!
        let isEverywhere = having.count == variants.count
        let isRequired = isEverywhere && having.allSatisfy { $0.object.property(name)!.isRequired }
        let texts = [description(name, first, having), isEverywhere ? "" : presence(having)]
        return Property(
            name: name, type: Self.type(of: having.map { $0.object.property(name)! }), isRequired: isRequired, defaultValue: nil,
            description: texts.filter { !$0.isEmpty }.joined(separator: " "))
    }

    /// Returns the type of a member: of constants, the enumeration of their values.
    private static func type(of properties: [Property]) -> Type {
        var values: [String] = []
        for constant in properties.compactMap(\.constant) where !values.contains(constant) { values.append(constant) }
        guard values.count > 1 else { return properties[0].type }
        return Type(description: properties[0].type.description, isSecret: false, shape: .enumeration(values))
    }

    /// Returns the descriptions of a member in the variants, each with its variants if there are several.
    private func description(_ name: String, _ first: Property, _ having: [Variant]) -> String {
        let texts = having.map { $0.object.property(name)!.description }
        guard texts.contains(where: { $0 != texts[0] }) else { return texts[0] }
        var seen: [String] = []
        for text in texts where !seen.contains(text) { seen.append(text) }
        return seen.map { text in
            let values = having.filter { $0.object.property(name)!.description == text }.map { "`\($0.value)`" }
            return values.joined(separator: ", ") + ": " + text
        }.joined(separator: " ")
    }

    private func presence(_ having: [Variant]) -> String {
        let values = having.map { "`\($0.value)`" }
        let list = values.count == 1 ? values[0] : values.dropLast().joined(separator: ", ") + " or " + values.last!
        return "Present if `\(discriminator)` is \(list)."
    }

    private var discriminatorProperty: Property {
        let type = Type(description: nil, isSecret: false, shape: .enumeration(variants.map(\.value)))
        let texts = variants.map { "`\($0.value)`: \($0.description)" }
        return Property(name: discriminator, type: type, isRequired: true, defaultValue: nil, description: texts.joined(separator: " "))
    }
}
