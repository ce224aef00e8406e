import JSON

/// Generates objects of the contract as structs that preserve unknown members, and enumerations that accept unknown values.
struct SwiftClientRecords {
    let types: SwiftClientTypes

    /// Generates the declaration of `type` if it has a name in Swift.
    func emit(_ type: Type, _ name: String, doc: String, _ source: inout SwiftSource) {
        switch type.shape {
        case .object(let object): record(object, name, doc: type.description ?? doc, &source)
        case .enumeration(let values): enumeration(values, name, doc: type.description ?? doc, &source)
        case .array(let element, _, _): emit(element, name, doc: doc, &source)
        case .map(_, let values, _): emit(values, name, doc: doc, &source)
        case .boolean, .integer, .string, .anyObject, .reference: break
        }
    }

    private func record(_ object: ObjectType, _ name: String, doc: String, _ source: inout SwiftSource) {
        source.doc(([doc] + object.choices.map(types.sentence)).joined(separator: "\n\n"))
        source.block("public struct \(SwiftNames.type(name)): Record") { source in
            for property in object.properties {
                source.doc(types.description(property))
                source.line("public var \(SwiftNames.member(property.name)): \(types.name(property, nested: property.name))")
            }
            source.doc("The members that this client does not know.")
            source.line("public var unknown: JSONObject")
            source.line()
            initializer(object, &source)
            reader(object, &source)
            writer(object, &source)
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

    private func reader(_ object: ObjectType, _ source: inout SwiftSource) {
        source.block("public init(reading members: inout MemberReader) throws") { source in
            for property in object.properties {
                let how = property.isRequired ? "required" : "optional"
                source.line("\(SwiftNames.member(property.name)) = try members.\(how)(\"\(property.name)\")")
            }
            source.line("unknown = members.rest")
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
