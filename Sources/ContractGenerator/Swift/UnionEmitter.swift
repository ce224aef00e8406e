/// Generates an object with variants as an enum with payloads. The payloads are nested structs without the constant members.
struct UnionEmitter {
    let types: SwiftTypes
    let union: Union
    /// The prefix of the names of its string rules.
    let rule: String

    func emit(_ name: String, doc: String?, to source: inout SwiftSource) {
        source.doc(doc)
        source.block("public enum \(name): ContractResult, Equatable") { source in
            for variant in union.variants {
                source.doc(variant.description)
                source.line("case \(SwiftNames.member(variant.value))(\(SwiftNames.type(variant.value)))")
            }
            source.line()
            for variant in union.variants {
                payload(variant, &source)
                source.line()
            }
            source.block("public func write(to writer: inout JSONWriter)") { source in
                source.line("switch self {")
                for variant in union.variants {
                    source.line("case .\(SwiftNames.plainMember(variant.value))(let payload): payload.write(to: &writer)")
                }
                source.line("}")
            }
        }
    }

    private func payload(_ variant: Union.Variant, _ source: inout SwiftSource) {
        let object = ObjectType(properties: variant.object.properties.filter { $0.constant == nil }, isClosed: false, choices: [])
        let emitter = StructEmitter(
            types: types, object: object, rule: rule + SwiftNames.type(variant.value), reads: false, writes: false)
        emitter.emit(
            SwiftNames.type(variant.value), doc: variant.description, to: &source, conformances: ["ContractResult", "Equatable"]
        ) { source in
            source.line()
            source.block("public func write(to writer: inout JSONWriter)") { source in
                source.line("writer.beginObject()")
                for property in variant.object.properties {
                    if let value = property.constant {
                        source.line("writer.key(\"\(property.name)\")")
                        source.line("writer.string(\(SwiftNames.literal(value)))")
                    } else {
                        emitter.writeMember(property, &source)
                    }
                }
                source.line("writer.endObject()")
            }
        }
    }
}
