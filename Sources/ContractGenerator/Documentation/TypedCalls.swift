import JSON

/// Calls of the Go client.
struct GoCalls {
    let contract: Contract
    private let types: GoTypes

    init(contract: Contract) {
        self.contract = contract
        // In the package of the tests, the types of the client have their package in front.
        types = GoTypes(contract: contract, package: .testing, declarations: GoDeclarations(contract: contract))
    }

    func call(_ method: Method, _ params: JSONObject) -> String {
        let package = method.isTesting ? "mintmarktest" : "mintmark"
        let methods = method.isTesting ? "mintmarktest.Methods(m)" : "m.\(GoNames.exported(method.namespace))"
        let head = "\(methods).\(GoNames.exported(method.verb))(ctx"
        guard !method.params.properties.isEmpty else { return head + ")" }
        let long = GoNames.exported(method.name) + "Params"
        let items = fields(of: method.params, params, in: long, for: .params)
        return Layout.list("\(head), \(package).\(long){", items, "})").text(indent: "\t")
    }

    private func fields(of object: ObjectType, _ values: JSONObject, in long: String, for purpose: GoTypes.Purpose) -> [Layout] {
        object.properties.compactMap { property in
            guard let value = values[property.name] else { return nil }
            let name = GoNames.exported(property.name)
            let nested = long + name
            let isPointer = types.field(property, nested: nested, name: name, in: purpose).hasPrefix(name + " *")
            let literal = literal(value, property.type, nested)
            return .labeled(name + ": ", isPointer ? pointer(literal, property.type, nested) : literal)
        }
    }

    private func pointer(_ literal: Layout, _ type: Type, _ nested: String) -> Layout {
        if case .object = contract.resolve(type).shape { return .labeled("&", literal) }
        let name = named(type, nested)
        return .labeled(
            "mintmark.Ptr\(["string", "bool"].contains(name) ? "" : "[\(name)]")(",
            .group(open: "", items: [literal], close: ")", separator: ",", trailing: ","))
    }

    private func literal(_ value: JSONValue, _ type: Type, _ nested: String) -> Layout {
        if case .reference(let name) = type.shape {
            let target = contract.type(name)!.type
            switch target.shape {
            case .map, .anyObject, .object: return composite(value, target, GoNames.exported(name), typed: named(type, nested))
            default: return literal(value, target, GoNames.exported(name))
            }
        }
        return composite(value, type, nested, typed: named(type, nested))
    }

    private func composite(_ value: JSONValue, _ type: Type, _ nested: String, typed: String) -> Layout {
        switch (type.shape, value) {
        case (.array(let element, _, _), .array(let values)):
            return .list(typed + "{", values.map { bare(literal($0, element, nested), named(element, nested)) }, "}")
        case (.map(_, let element, _), .object(let object)):
            return .list(
                typed + "{",
                object.members.map {
                    .labeled(GoNames.literal($0.name) + ": ", bare(literal($0.value, element, nested), named(element, nested)))
                }, "}")
        case (.object(let object), .object(let values)): return .list(typed + "{", fields(of: object, values, in: nested, for: .both), "}")
        case (.anyObject, .object(let object)):
            return .list(typed + "{", object.members.map { .labeled(GoNames.literal($0.name) + ": ", free($0.value)) }, "}")
        default: return free(value)
        }
    }

    /// Elements of a list or map of structs are written without their type.
    private func bare(_ literal: Layout, _ type: String) -> Layout {
        guard case .group(let open, let items, let close, let separator, let trailing) = literal, open == type + "{" else { return literal }
        return .group(open: "{", items: items, close: close, separator: separator, trailing: trailing)
    }

    private func free(_ value: JSONValue) -> Layout {
        switch value {
        case .null: .leaf("nil")
        case .bool, .number: .leaf(value.text)
        case .string(let text): .leaf(GoNames.literal(text))
        case .array(let values): .list("[]any{", values.map(free), "}")
        case .object(let object):
            .list("map[string]any{", object.members.map { .labeled(GoNames.literal($0.name) + ": ", free($0.value)) }, "}")
        }
    }

    /// Returns the type with its package.
    private func named(_ type: Type, _ nested: String) -> String {
        let text = types.expression(type, nested: nested)
        let start = text.lastIndex(of: "]").map { text.index(after: $0) } ?? text.startIndex
        return types.declarations.testing.contains(String(text[start...])) ? text[..<start] + "mintmarktest." + text[start...] : text
    }
}

/// Calls of the Java client.
struct JavaCalls {
    let contract: Contract

    func call(_ method: Method, _ params: JSONObject) -> String {
        let head = "m.\(JavaNames.member(method.namespace))().\(JavaNames.member(method.verb))("
        if params.isEmpty {
            let needsParams = method.params.properties.contains(where: \.isRequired)
            return head + (needsParams ? "p -> {}" : "") + ");"
        }
        let path = [JavaNames.params(method)]
        let items = values(method.params, params, path) { "." + JavaNames.member($0) + "(" }
        return Layout.group(open: head + "p -> p", items: items, close: ");", separator: "", trailing: "").text()
    }

    private func values(_ object: ObjectType, _ values: JSONObject, _ path: [String], verb: (String) -> String) -> [Layout] {
        object.properties.compactMap { property in
            guard let value = values[property.name] else { return nil }
            let nested = path + [JavaNames.nested(property.name, within: path)]
            return .group(
                open: verb(property.name), items: [literal(value, property.type, nested)], close: ")", separator: "", trailing: "")
        }
    }

    private func literal(_ value: JSONValue, _ type: Type, _ nested: [String]) -> Layout {
        switch (type.shape, value) {
        case (.integer, _): return .leaf(value.text + "L")
        case (.enumeration, .string(let text)): return .leaf("\(nested.joined(separator: ".")).\(JavaNames.constant(text))")
        case (.object(let object), .object(let members)):
            let items = values(object, members, nested) { ".\(JavaRecords.wither($0))(" }
            return .group(open: "new \(nested.joined(separator: "."))()", items: items, close: "", separator: "", trailing: "")
        case (.array(let element, _, _), .array(let values)):
            return .list("List.of(", values.map { literal($0, element, nested) }, ")", trailing: "")
        case (.map(_, let element, _), .object(let object)):
            return map(object.members.map { ($0.name, literal($0.value, element, nested)) })
        case (.reference("Timestamp"), _): return .leaf("Instant.ofEpochSecond(\(value.text)L)")
        case (.reference(let name), _): return literal(value, contract.type(name)!.type, [SwiftNames.type(name)])
        default: return free(value)
        }
    }

    private func free(_ value: JSONValue) -> Layout {
        switch value {
        case .null, .bool: .leaf(value.text)
        case .number(let number): .leaf(number.int64 == nil ? value.text : value.text + "L")
        case .string(let text): .leaf(JavaNames.literal(text))
        case .array(let values): .list("List.of(", values.map(free), ")", trailing: "")
        case .object(let object): map(object.members.map { ($0.name, free($0.value)) })
        }
    }

    private func map(_ entries: [(name: String, value: Layout)]) -> Layout {
        guard entries.count > 10 else {
            return .list("Map.of(", entries.map { .labeled(JavaNames.literal($0.name) + ", ", $0.value) }, ")", trailing: "")
        }
        // `Map.of` takes at most ten pairs.
        let pairs = entries.map {
            Layout.labeled(
                "Map.entry(\(JavaNames.literal($0.name)), ", .group(open: "", items: [$0.value], close: ")", separator: "", trailing: ""))
        }
        return .list("Map.ofEntries(", pairs, ")", trailing: "")
    }
}

/// Calls of the Swift client.
struct SwiftCalls {
    let contract: Contract
    private var types: SwiftClientTypes { SwiftClientTypes(contract: contract) }

    func call(_ method: Method, _ params: JSONObject) -> String {
        let items = SwiftClientNamespace.properties(method).compactMap { property -> Layout? in
            guard let value = params[property.name] else { return nil }
            let nested = SwiftNames.type(SwiftClientNamespace.nested(method, property))
            return .labeled(property.labelInSwift + ": ", literal(value, property.type, nested))
        }
        let head = "try await m.\(SwiftNames.member(method.namespace)).\(SwiftNames.plainMember(method.verb))("
        return Layout.list(head, items, ")", trailing: "").text()
    }

    /// - Parameter nested: The name of a type that is defined inline, with the types around it.
    private func literal(_ value: JSONValue, _ type: Type, _ nested: String) -> Layout {
        switch (type.shape, value) {
        case (.enumeration, .string(let text)): return .leaf("." + SwiftNames.plainMember(text))
        case (.object(let object), .object(let values)):
            let sorted = object.properties.filter(\.isRequired) + object.properties.filter { !$0.isRequired }
            let items = sorted.compactMap { property -> Layout? in
                guard let value = values[property.name] else { return nil }
                let inner = nested + "." + SwiftNames.type(property.name)
                return .labeled(property.labelInSwift + ": ", literal(value, property.type, inner))
            }
            return .list(nested + "(", items, ")", trailing: "")
        case (.array(let element, _, _), .array(let values)): return .list("[", values.map { literal($0, element, nested) }, "]")
        case (.map(_, let element, _), .object(let object)):
            return dictionary(object.members.map { ($0.name, literal($0.value, element, nested)) })
        case (.reference("Timestamp"), _): return .leaf(value.text)
        case (.reference(let name), _): return literal(value, contract.type(name)!.type, SwiftNames.type(name))
        default: return free(value)
        }
    }

    private func free(_ value: JSONValue) -> Layout {
        switch value {
        case .null: .leaf("nil")
        case .bool, .number: .leaf(value.text)
        case .string(let text): .leaf(SwiftNames.literal(text))
        case .array(let values): .list("[", values.map(free), "]")
        case .object(let object): dictionary(object.members.map { ($0.name, free($0.value)) })
        }
    }

    private func dictionary(_ entries: [(name: String, value: Layout)]) -> Layout {
        entries.isEmpty ? .leaf("[:]") : .list("[", entries.map { .labeled(SwiftNames.literal($0.name) + ": ", $0.value) }, "]")
    }
}

extension Property {
    /// The label of an argument. Keywords need no backticks there.
    fileprivate var labelInSwift: String { SwiftNames.plainMember(name) }
}
