import JSON

/// Converts a `Type` to JSON Schema Draft-07. References point to the components of the document.
enum OpenRPCSchema {
    static func of(_ type: Type) -> JSONValue { .object(object(type, description: type.description)) }

    /// Returns the schemas of a shared type, by name: its own, and those of its variants.
    static func all(of type: NamedType) -> [(name: String, schema: JSONValue)] {
        guard case .object(let object) = type.type.shape, let union = object.union else { return [(type.name, of(type.type))] }
        let names = union.variants.map { type.name + SwiftNames.type($0.value) }
        let references = names.map { "#/components/schemas/\($0)" }
        var mapping = JSONObject()
        for (variant, reference) in zip(union.variants, references) { mapping[variant.value] = .string(reference) }
        let schema: JSONValue = [
            "description": .string(type.type.description ?? ""), "oneOf": .array(references.map { ["$ref": .string($0)] }),
            "discriminator": ["propertyName": .string(union.discriminator), "mapping": .object(mapping)],
        ]
        let variants = union.variants.map { variant in
            of(Type(description: variant.description, isSecret: false, shape: .object(variant.object)))
        }
        return [(type.name, schema)] + zip(names, variants).map { ($0, $1) }
    }

    /// Returns the schema of a member, with its description and default.
    static func of(_ property: Property) -> JSONValue {
        var schema = object(property.type, description: property.description.isEmpty ? property.type.description : property.description)
        schema["default"] = property.defaultValue
        return .object(schema)
    }

    private static func object(_ type: Type, description: String?) -> JSONObject {
        var schema = JSONObject()
        if case .reference(let name) = type.shape { schema["$ref"] = .string("#/components/schemas/\(name)") }
        if let description, !description.isEmpty { schema["description"] = .string(description) }
        describe(type.shape, in: &schema)
        if type.isSecret { schema["secret"] = true }
        return schema
    }

    private static func describe(_ shape: Type.Shape, in schema: inout JSONObject) {
        switch shape {
        case .reference: break
        case .boolean: schema["type"] = "boolean"
        case .integer(let range):
            schema["type"] = "integer"
            if range.lowerBound != .min { schema["minimum"] = .number(JSONNumber(range.lowerBound)) }
            if range.upperBound != .max { schema["maximum"] = .number(JSONNumber(range.upperBound)) }
        case .string(let rule):
            schema["type"] = "string"
            count(rule.length, "minLength", "maxLength", in: &schema)
            schema["pattern"] = rule.pattern.map { .string($0) }
            schema["patternDescription"] = rule.patternDescription.map { .string($0) }
        case .enumeration(let values):
            schema["type"] = "string"
            if values.count == 1 { schema["const"] = .string(values[0]) } else { schema["enum"] = .array(values.map { .string($0) }) }
        case .array(let element, let range, let isUnique):
            schema["type"] = "array"
            count(range, "minItems", "maxItems", in: &schema)
            if isUnique { schema["uniqueItems"] = true }
            schema["items"] = of(element)
        case .map(let names, let values, let range):
            schema["type"] = "object"
            count(range, "minProperties", "maxProperties", in: &schema)
            schema["propertyNames"] = names.map(of)
            schema["additionalProperties"] = of(values)
        case .anyObject: schema["type"] = "object"
        case .object(let object): describe(object, in: &schema)
        }
    }

    private static func describe(_ object: ObjectType, in schema: inout JSONObject) {
        schema["type"] = "object"
        let required = object.properties.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        if object.isClosed { schema["additionalProperties"] = false }
        var properties = JSONObject()
        for property in object.properties { properties[property.name] = of(property) }
        schema["properties"] = .object(properties)
    }

    private static func count(_ range: ClosedRange<Int>, _ least: String, _ most: String, in schema: inout JSONObject) {
        if range.lowerBound > 0 { schema[least] = .number(JSONNumber(Int64(range.lowerBound))) }
        if range.upperBound < .max { schema[most] = .number(JSONNumber(Int64(range.upperBound))) }
    }
}
