/// Generates the classes of parameters, results and shared types.
struct JavaRecords {
    let types: JavaTypes
    /// The shared types that Mintmark returns.
    let returned: Set<String>
    /// The shared types that programs pass as part of parameters.
    let passed: Set<String>

    /// The use of the objects of a class in programs.
    struct Use {
        var isRead: Bool
        var isWritten: Bool
        /// Whether the object is nested in the parameters of a method or in a shared type.
        var isStatic = false
    }

    init(contract: Contract) {
        types = JavaTypes(contract: contract)
        var results = ReachableTypes(contract: contract)
        results.add(resultsOf: contract.methods)
        results.addErrorsAndNotifications()
        var params = ReachableTypes(contract: contract)
        params.add(paramsOf: contract.methods)
        returned = results.names
        passed = params.names
    }

    /// Returns the file of a shared type, or `nil` if the type has no class.
    func file(_ type: NamedType) -> GeneratedFile? {
        let name = SwiftNames.type(type.name)
        var source = JavaSource(from: "types/\(type.name).json")
        let use = Use(isRead: returned.contains(type.name) || !passed.contains(type.name), isWritten: passed.contains(type.name))
        switch type.type.shape {
        case .object(let object) where object.union != nil:
            let union = JavaUnions(records: self, name: name, object: object, union: object.union!)
            union.write(about: type.type.description ?? "", &source)
        case .object(let object): value(object, path: [name], about: type.type.description ?? "", use, &source)
        case .enumeration(let values): enumeration(values, name, about: type.type.description ?? "", isStatic: false, &source)
        default: return nil
        }
        return source.file(name)
    }

    /// Returns the file of the parameters of a method, or `nil` if it has none.
    func params(of method: Method) -> GeneratedFile? {
        guard !method.params.properties.isEmpty else { return nil }
        let name = JavaNames.params(method)
        var source = JavaSource(from: "methods/\(method.name).json")
        source.doc(about("The parameters of `\(method.name)`.", method.params))
        source.block("public final class \(name) extends Params") { source in
            source.doc("Creates parameters without values.")
            source.line("public \(name)() {}")
            let members = types.members(method.params, within: [name])
            for member in members {
                source.doc("{@return this}", tags: [parameter(member)])
                let set = types.isFree(member.property.type) ? "setFree" : "set"
                source.short(
                    "public \(name) \(member.name)(\(types.argument(member)) \(member.name))",
                    "return \(set)(this, \(JavaNames.literal(member.property.name)), \(member.name));")
            }
            nested(members, path: [name], Use(isRead: false, isWritten: true, isStatic: true), &source)
        }
        return source.file(name)
    }

    /// Returns the file of a result that is defined inline, or `nil` if the result is a shared type.
    func result(of method: Method) -> GeneratedFile? {
        guard case .object(let object) = method.result.shape else { return nil }
        let name = JavaNames.result(method)
        var source = JavaSource(from: "methods/\(method.name).json")
        let about = method.result.description ?? "The result of `\(method.name)`."
        value(object, path: [name], about: about, Use(isRead: true, isWritten: false), &source)
        return source.file(name)
    }

    /// Converts `email` to `withEmail`.
    static func wither(_ name: String) -> String { "with" + SwiftNames.type(SwiftNames.plainMember(name)) }

    /// Generates the types of members that are defined inline.
    func nested(_ members: [JavaTypes.Member], path: [String], _ use: Use, _ source: inout JavaSource) {
        for member in members {
            inline(member.property.type, path: path + [member.nested], about: types.description(member.property), use, &source)
        }
    }

    private func inline(_ type: Type, path: [String], about: String, _ use: Use, _ source: inout JavaSource) {
        switch type.shape {
        case .object(let object):
            source.line()
            value(object, path: path, about: type.description ?? about, use, &source)
        case .enumeration(let values):
            source.line()
            enumeration(values, path.last!, about: type.description ?? about, isStatic: true, &source)
        case .array(let element, _, _): inline(element, path: path, about: about, use, &source)
        case .map(_, let values, _): inline(values, path: path, about: about, use, &source)
        case .boolean, .integer, .string, .anyObject, .reference: break
        }
    }

    private func value(_ object: ObjectType, path: [String], about text: String, _ use: Use, _ source: inout JavaSource) {
        let name = path.last!
        let members = types.members(object, within: path)
        source.doc(about(text, object))
        source.block("public \(use.isStatic ? "static " : "")final class \(name) extends Result") { source in
            if use.isWritten {
                source.doc("Creates an object without members.")
                source.line("public \(name)() { super(Map.of()); }")
                source.line()
            }
            source.line("\(name)(Map<String, Object> json) { super(json); }")
            for member in members {
                if use.isRead { getter(member, &source) }
                if use.isWritten { wither(member, name, isRead: use.isRead, &source) }
            }
            nested(members, path: path, Use(isRead: use.isRead, isWritten: use.isWritten, isStatic: true), &source)
        }
    }

    /// Generates the getter of a member.
    func getter(_ member: JavaTypes.Member, _ source: inout JavaSource) {
        source.line()
        source.doc(JavaDocs.getter(types.description(member.property)))
        source.short("public \(types.result(member)) \(member.name)()", "return \(types.read(member));")
        if let text = types.textGetter(member) {
            source.line()
            source.doc("{@return the same as {@link #\(member.name)} in JSON, also if this client does not know the value}")
            source.short("public \(text.type) \(text.name)()", "return \(text.read);")
        }
    }

    private func wither(_ member: JavaTypes.Member, _ name: String, isRead: Bool, _ source: inout JavaSource) {
        let verb = Self.wither(member.property.name)
        let tag = isRead ? "@param \(member.name) the value of {@link #\(member.name)}" : parameter(member)
        let with = types.isFree(member.property.type) ? "withFree" : "with"
        source.line()
        source.doc("{@return a copy with this value}", tags: [tag])
        source.short(
            "public \(name) \(verb)(\(types.argument(member)) \(member.name))",
            "return new \(name)(\(with)(\(JavaNames.literal(member.property.name)), \(member.name)));")
    }

    private func parameter(_ member: JavaTypes.Member) -> String {
        let required = member.property.isRequired ? " Required." : ""
        return "@param \(member.name) \(JavaDocs.html(types.description(member.property)))\(required)"
    }

    private func enumeration(_ values: [String], _ name: String, about: String, isStatic: Bool, _ source: inout JavaSource) {
        source.doc(JavaDocs.html(about.isEmpty ? "A fixed set of values." : about))
        source.block("public enum \(name) implements JsonText") { source in
            for value in values {
                source.doc("<code>\(JavaDocs.html(value))</code>")
                source.line("\(JavaNames.constant(value))(\(JavaNames.literal(value))),")
            }
            source.doc("A value that this client does not know. The methods with the suffix AsString return it.")
            source.line("UNKNOWN_TO_SDK_VERSION(null);")
            source.line()
            source.line("private final String value;")
            source.line("\(name)(String value) { this.value = value; }")
            source.line("@Override public String value() { return value; }")
        }
    }

    private func about(_ text: String, _ object: ObjectType) -> String {
        let choices = object.choices.map { choice in
            let names = choice.members.map { "`\(JavaNames.member($0))`" }.joined(separator: ", ")
            return switch choice.rule {
            case .exactlyOne: "Exactly one of \(names) is set."
            case .atLeastOne: "At least one of \(names) is set."
            case .atMostOne: "At most one of \(names) is set."
            }
        }
        return JavaDocs.html(([text] + choices).filter { !$0.isEmpty }.joined(separator: " "))
    }
}
