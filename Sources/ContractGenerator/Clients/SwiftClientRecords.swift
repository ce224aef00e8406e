import JSON

/// Generates objects of the contract as structs that preserve unknown members, objects with variants as enumerations with payloads, and
/// enumerations that accept unknown values.
struct SwiftClientRecords {
    let types: SwiftClientTypes
    /// Whether programs create the objects as parameters. Objects that only Mintmark creates keep their JSON, and cannot be written.
    let isPassed: Bool

    /// Generates the declaration of `type` if it has a name in Swift.
    func emit(_ type: Type, _ name: String, doc: String, _ source: inout SwiftSource) {
        switch type.shape {
        case .object(let object) where object.union != nil: union(object.union!, name, doc: type.description ?? doc, &source)
        case .object(let object): record(object, name, doc: type.description ?? doc, &source)
        case .enumeration(let values): enumeration(values, name, doc: type.description ?? doc, &source)
        case .array(let element, _, _): emit(element, name, doc: doc, &source)
        case .map(_, let values, _): emit(values, name, doc: doc, &source)
        case .boolean, .integer, .string, .anyObject, .reference: break
        }
    }

    private func union(_ union: Union, _ name: String, doc: String, _ source: inout SwiftSource) {
        source.doc(doc)
        source.block("public enum \(SwiftNames.type(name)): Variants") { source in
            for variant in union.variants {
                source.doc(variant.description)
                source.line("case \(SwiftNames.member(variant.value))(\(SwiftNames.type(variant.value)))")
            }
            source.doc("A variant that this client does not know, as JSON.")
            source.line("case other(JSONObject)")
            source.line()
            source.block("public init(wire: JSONValue) throws") { source in
                source.line("let object = try JSONObject(wire: wire)")
                source.line("switch object[\"\(union.discriminator)\"]?.string {")
                for variant in union.variants {
                    source.line("case \"\(variant.value)\": self = .\(SwiftNames.plainMember(variant.value))(try .init(wire: wire))")
                }
                source.line("default: self = .other(object)")
                source.line("}")
            }
            source.line()
            source.block("public var payload: any WireValue") { source in
                source.line("switch self {")
                for variant in union.variants { source.line("case .\(SwiftNames.plainMember(variant.value))(let payload): payload") }
                source.line("case .other(let json): json")
                source.line("}")
            }
            source.line()
            for variant in union.variants {
                record(variant.members, variant.value, doc: variant.description, discriminator: union.discriminator, &source)
            }
        }
        source.line()
    }

    private func record(
        _ object: ObjectType, _ name: String, doc: String, discriminator: String? = nil, _ source: inout SwiftSource
    ) {
        source.doc(([doc] + object.choices.map(types.sentence)).joined(separator: "\n\n"))
        source.block("public struct \(SwiftNames.type(name)): \(isPassed ? "MutableRecord" : "ResultRecord")") { source in
            for property in object.properties {
                source.doc(types.description(property))
                let keyword = isPassed ? "var" : "let"
                source.line("public \(keyword) \(SwiftNames.member(property.name)): \(types.name(property, nested: property.name))")
            }
            if isPassed {
                source.line("public var unknown: JSONObject")
                source.line()
                initializer(object, &source)
            } else {
                source.line("public let json: JSONObject")
            }
            reader(object, discriminator: discriminator, &source)
            if isPassed { writer(object, &source) }
            for property in object.properties { emit(property.type, property.name, doc: property.description, &source) }
        }
        source.line()
    }

    private func initializer(_ object: ObjectType, _ source: inout SwiftSource) {
        let sorted = object.properties.filter(\.isRequired) + object.properties.filter { !$0.isRequired }
        let parameters = sorted.map {
            "\(SwiftNames.member($0.name)): \(types.name($0, nested: $0.name))" + ($0.isRequired ? "" : " = nil")
        }
        source.doc("The members by their names.")
        source.block("public init(\((parameters + ["unknown: JSONObject = [:]"]).joined(separator: ", ")))") { source in
            for property in object.properties {
                source.line("self.\(SwiftNames.member(property.name)) = \(SwiftNames.member(property.name))")
            }
            source.line("self.unknown = unknown")
        }
        source.line()
    }

    private func reader(_ object: ObjectType, discriminator: String?, _ source: inout SwiftSource) {
        source.block("public init(reading members: inout MemberReader) throws") { source in
            if let discriminator { source.line("let _: String = try members.required(\"\(discriminator)\")") }
            for property in object.properties {
                source.line("\(SwiftNames.member(property.name)) = try \(types.read(property, from: "members", isPassed: isPassed))")
            }
            source.line(isPassed ? "unknown = members.rest" : "json = members.object")
        }
        source.line()
    }

    private func writer(_ object: ObjectType, _ source: inout SwiftSource) {
        source.block("public func write(to members: inout MemberWriter)") { source in
            for property in object.properties {
                let how = types.contract.isSecret(property.type) ? "secret" : "set"
                source.line("members.\(how)(\"\(property.name)\", \(SwiftNames.member(property.name)))")
            }
            source.line("members.add(unknown)")
        }
    }

    private func enumeration(_ values: [String], _ name: String, doc: String, _ source: inout SwiftSource) {
        source.doc((doc.isEmpty ? "One of the values below." : doc) + " Newer versions of Mintmark can add values.")
        source.block("public struct \(SwiftNames.type(name)): OpenEnumeration") { source in
            source.line("public let rawValue: String")
            source.line("public init(rawValue: String) { self.rawValue = rawValue }")
            for value in values {
                source.doc("`\(value)`")
                source.line("public static let \(SwiftNames.member(value)) = Self(rawValue: \(SwiftNames.literal(value)))")
            }
        }
        source.line()
    }
}
