import JSON

/// Converts JSON Schema to `Type`, and reports keywords outside the subset that the contract uses.
struct SchemaReader {
    let problems: Problems

    private static let keywords: [String: Set<String>] = [
        "boolean": [], "integer": ["minimum", "maximum"],
        "string": ["minLength", "maxLength", "pattern", "patternDescription", "enum"],
        "array": ["items", "minItems", "maxItems", "uniqueItems"],
        "object": ["properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties", "choices"],
    ]
    private static let everywhere: Set<String> = ["type", "description", "secret", "default"]

    /// - Parameter place: The location of the schema, for messages.
    func type(_ schema: JSONValue, at place: String) -> Type {
        Type(description: schema["description"]?.string, isSecret: schema["secret"]?.bool ?? false, shape: shape(schema, at: place))
    }

    private func shape(_ schema: JSONValue, at place: String) -> Type.Shape {
        if let reference = schema["$ref"]?.string { return self.reference(reference, schema, at: place) }
        if schema["oneOf"] != nil { return .object(union(schema, at: place)) }
        if let value = schema["const"]?.string {
            refuseUnknown(schema, besides: ["const", "description"], at: place)
            return .enumeration([value])
        }
        guard let kind = schema["type"]?.string, let known = Self.keywords[kind] else {
            problems.add(place, "needs $ref or a type that is one of \(Self.keywords.keys.sorted().joined(separator: ", "))")
            return .boolean
        }
        refuseUnknown(schema, besides: known.union(Self.everywhere), at: place)
        switch kind {
        case "boolean": return .boolean
        case "integer":
            return .integer(range(schema["minimum"]?.int ?? .min, schema["maximum"]?.int ?? .max, at: place))
        case "string": return string(schema, at: place)
        case "array":
            let count = self.count(schema, "minItems", "maxItems", at: place)
            return .array(
                of: type(schema["items"] ?? .null, at: place + "/items"), count: count, isUnique: schema["uniqueItems"]?.bool ?? false)
        default: return object(schema, at: place)
        }
    }

    private func reference(_ reference: String, _ schema: JSONValue, at place: String) -> Type.Shape {
        refuseUnknown(schema, besides: ["$ref", "description", "default"], at: place)
        let file = reference.split(separator: "/").last.map(String.init) ?? ""
        guard file.hasSuffix(".json") else {
            problems.add(place, "$ref \(reference) names no file under schemas/types")
            return .boolean
        }
        return .reference(String(file.dropLast(5)))
    }

    private func string(_ schema: JSONValue, at place: String) -> Type.Shape {
        if let values = schema["enum"]?.array { return .enumeration(values.compactMap(\.string)) }
        let pattern = schema["pattern"]?.string
        if let pattern {
            do { _ = try PatternTable(pattern) } catch { problems.add(place + "/pattern", "\(error)") }
        }
        return .string(
            StringRule(
                length: count(schema, "minLength", "maxLength", at: place), pattern: pattern,
                patternDescription: patternDescription(schema, at: place)))
    }

    /// Returns the description of a pattern for messages and `mintmark describe`. Every pattern requires one.
    private func patternDescription(_ schema: JSONValue, at place: String) -> String? {
        let description = schema["patternDescription"]?.string
        switch (schema["pattern"]?.string, description) {
        case (nil, nil): break
        case (nil, _?): problems.add(place, "patternDescription needs a pattern")
        case (_?, nil): problems.add(place, "the pattern needs a patternDescription: words that complete \"must be\"")
        case (let pattern?, let words?):
            let isExpression = words.contains(pattern) || words.hasPrefix("^") || words.contains("\\") || words.contains("[")
            if words.isEmpty || isExpression || words.hasSuffix(".") {
                problems.add(
                    place + "/patternDescription",
                    "is not words that complete \"must be\": no regular expression and no period at the end")
            }
        }
        return description
    }

    // MARK: Objects

    private func object(_ schema: JSONValue, at place: String) -> Type.Shape {
        if schema["properties"] != nil { return .object(objectType(schema, at: place)) }
        guard let values = schema["additionalProperties"] else { return .anyObject }
        if values.bool == false { return .object(objectType(schema, at: place)) }
        return .map(
            names: schema["propertyNames"].map { type($0, at: place + "/propertyNames") },
            values: type(values, at: place + "/additionalProperties"),
            count: count(schema, "minProperties", "maxProperties", at: place))
    }

    /// Returns the members of an object schema with `properties`.
    func objectType(_ schema: JSONValue, at place: String) -> ObjectType {
        refuseUnknown(schema, besides: Self.keywords["object"]!.union(Self.everywhere), at: place)
        let required = (schema["required"]?.array ?? []).compactMap(\.string)
        let members = schema["properties"]?.object?.members ?? []
        for name in required where !members.contains(where: { $0.name == name }) {
            problems.add(place, "requires \(name), which it does not describe")
        }
        let properties = members.map { name, value in
            Property(
                name: name, type: type(value, at: "\(place)/properties/\(name)"), isRequired: required.contains(name),
                defaultValue: value["default"], description: value["description"]?.string ?? "")
        }
        return ObjectType(
            properties: properties, isClosed: schema["additionalProperties"]?.bool == false,
            choices: choices(schema["choices"], among: properties, at: place + "/choices"))
    }

    private func choices(_ schema: JSONValue?, among properties: [Property], at place: String) -> [Choice] {
        (schema?.object?.members ?? []).compactMap { name, value in
            guard let (word, members) = value.object?.members.first, let rule = Choice.Rule(rawValue: word), value.object?.count == 1 else {
                problems.add("\(place)/\(name)", "needs one of exactlyOne, atLeastOne, atMostOne")
                return nil
            }
            let names = (members.array ?? []).compactMap(\.string)
            for name in names where properties.first(where: { $0.name == name && !$0.isRequired && $0.defaultValue == nil }) == nil {
                problems.add("\(place)/\(name)", "is no optional member without a default")
            }
            return Choice(name: name, rule: rule, members: names)
        }
    }

    // MARK: Unions

    /// Returns an object whose member `discriminator` determines its other members.
    private func union(_ schema: JSONValue, at place: String) -> ObjectType {
        refuseUnknown(schema, besides: ["description", "oneOf", "discriminator"], at: place)
        let name = schema["discriminator"]?["propertyName"]?.string ?? ""
        let variants = (schema["oneOf"]?.array ?? []).enumerated().compactMap { index, each in
            variant(each, of: name, at: "\(place)/oneOf/\(index)")
        }
        if variants.isEmpty || Set(variants.map(\.value)).count < variants.count {
            problems.add(place, "needs a discriminator, and one variant for each of its values")
        }
        for (member, values) in members(of: schema) where Set(values.map(Self.withoutDescription)).count > 1 && member != name {
            problems.add(place, "the variants have different types for \(member)")
        }
        return Union(discriminator: name, variants: variants).object
    }

    private func variant(_ schema: JSONValue, of discriminator: String, at place: String) -> Union.Variant? {
        let object = objectType(schema, at: place)
        guard case .enumeration(let values)? = object.property(discriminator)?.type.shape, values.count == 1,
            object.property(discriminator)?.isRequired == true, let description = schema["description"]?.string,
            object.choices.isEmpty, !object.isClosed
        else {
            problems.add(place, "needs a description, and \(discriminator) as a required const; it has no choices and is not closed")
            return nil
        }
        return Union.Variant(value: values[0], description: description, object: object, discriminator: discriminator)
    }

    /// Returns the schemas of each member in all variants.
    private func members(of schema: JSONValue) -> [String: [JSONValue]] {
        let members = (schema["oneOf"]?.array ?? []).flatMap { $0["properties"]?.object?.members ?? [] }
        return Dictionary(grouping: members, by: \.name).mapValues { $0.map(\.value) }
    }

    private static func withoutDescription(_ schema: JSONValue) -> String {
        var object = schema.object ?? JSONObject()
        object["description"] = nil
        // Constants of the variants may differ: together they are one enumeration.
        if object["const"] != nil { object["const"] = true }
        return JSONValue.object(object).text
    }

    // MARK: Helpers

    func refuseUnknown(_ schema: JSONValue, besides known: Set<String>, at place: String) {
        for name in schema.object?.names ?? [] where !known.contains(name) {
            problems.add(place, "the keyword \(name) cannot be used here")
        }
    }

    private func count(_ schema: JSONValue, _ least: String, _ most: String, at place: String) -> ClosedRange<Int> {
        let range = range(schema[least]?.int ?? 0, schema[most]?.int ?? .max, at: place)
        return Int(range.lowerBound)...Int(range.upperBound)
    }

    private func range(_ least: Int64, _ most: Int64, at place: String) -> ClosedRange<Int64> {
        guard least <= most else {
            problems.add(place, "its least is above its most")
            return most...most
        }
        return least...most
    }
}
