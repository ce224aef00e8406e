import JSON

/// Generates the OpenRPC 1.4 document: as a file, and in parts in the generated Swift code, where it is limited to the methods that a
/// process offers.
struct OpenRPCEmitter {
    let contract: Contract

    private static let version = "1.4.1"

    /// The file `schemas/openrpc.json`.
    var document: GeneratedFile {
        let document: JSONValue = [
            "openrpc": .string(Self.version), "info": info, "methods": .array(contract.methods.map(method)), "components": components,
            "x-notifications": .array(contract.notifications.map(notification)),
        ]
        return GeneratedFile(path: "schemas/openrpc.json", text: PrettyJSON.text(document))
    }

    func swift(_ texts: ContractTexts) -> GeneratedFile {
        var source = SwiftSource(from: "service.json")
        source.block("extension OpenRPCDocument") { source in
            source.doc("The version of the service, and of its contract.")
            source.line("public static let serviceVersion = \(SwiftNames.literal(contract.version))")
            source.line("static let version: StaticString = ##\"\"\(Self.version)\"\"##")
            source.line("static let info: StaticString = ##\"\(info.text)\"##")
            source.line("static let components = \(texts.places[ContractTexts.components]!)")
            source.doc("Each with its namespace: it is told of where a method of that is offered.")
            source.line("static let notifications: [(namespace: String, document: ContractText)] = [")
            for each in contract.notifications {
                source.line("    (\(SwiftNames.literal(each.namespace)), \(texts.places[each.name]!)),")
            }
            source.line("]")
        }
        return GeneratedFile(path: "\(SwiftEmitter.folder)/OpenRPCParts.swift", text: source.text)
    }

    private var info: JSONValue {
        ["title": .string(contract.title), "version": .string(contract.version), "description": .string(contract.description)]
    }

    var components: JSONValue {
        var schemas = JSONObject()
        for type in contract.types { for each in OpenRPCSchema.all(of: type) { schemas[each.name] = each.schema } }
        var errors = JSONObject()
        for entry in contract.errors { errors[entry.type] = error(entry) }
        return ["schemas": .object(schemas), "errors": .object(errors)]
    }

    /// `data` contains the schema of the error data, because readers of the document need its structure.
    private func error(_ entry: ErrorEntry) -> JSONValue {
        var properties: JSONObject = ["type": ["const": .string(entry.type)]]
        for property in entry.data { properties[property.name] = OpenRPCSchema.of(property) }
        let required = ["type"] + entry.data.filter(\.isRequired).map(\.name)
        var data: JSONObject = [
            "description": .string(entry.when), "type": "object", "required": .array(required.map { .string($0) }),
            "properties": .object(properties), "x-equivalents": equivalents(entry.equivalents),
        ]
        if entry.isStoreError { data["x-store-error"] = true }
        return ["code": .number(JSONNumber(entry.code)), "message": .string(entry.message), "data": .object(data)]
    }

    /// OpenRPC does not support server notifications, so this is a method object without a result.
    func notification(_ notification: Notification) -> JSONValue {
        [
            "name": .string(notification.name), "summary": .string(notification.summary),
            "description": .string(notification.description), "params": OpenRPCSchema.of(notification.params),
            "x-equivalents": equivalents(notification.equivalents),
        ]
    }

    // MARK: Methods

    /// Returns one method object.
    func method(_ method: Method) -> JSONValue {
        var object: JSONObject = [
            "name": .string(method.name), "summary": .string(method.summary), "description": .string(method.description),
            "paramStructure": "by-name",
        ]
        let properties = method.params.properties.filter(\.isRequired) + method.params.properties.filter { !$0.isRequired }
        object["params"] = .array(properties.map(descriptor))
        object["result"] = ["name": "result", "schema": OpenRPCSchema.of(method.result)]
        if !method.errors.isEmpty {
            object["errors"] = .array(method.errors.map { ["$ref": .string("#/components/errors/\($0)")] })
        }
        object["examples"] = .array(method.examples.compactMap(example))
        if let progress = method.progress { object["x-progress"] = OpenRPCSchema.of(progress) }
        if !method.columns.isEmpty { object["x-columns"] = .array(method.columns.map { .string($0) }) }
        object["x-caller"] = .string(method.caller.rawValue)
        object["x-read-only"] = .bool(method.isReadOnly)
        object["x-testing"] = .bool(method.isTesting)
        object["x-level"] = .string(method.level.rawValue)
        if method.secrets == true { object["x-secrets"] = true }
        if !method.params.choices.isEmpty { object["x-choices"] = .array(method.params.choices.map(choice)) }
        object["x-equivalents"] = equivalents(method.equivalents)
        return .object(object)
    }

    private func descriptor(_ property: Property) -> JSONValue {
        var object: JSONObject = ["name": .string(property.name), "required": .bool(property.isRequired)]
        let description = property.description.isEmpty ? contract.resolve(property.type).description ?? "" : property.description
        if !description.isEmpty { object["description"] = .string(description) }
        object["schema"] = OpenRPCSchema.of(property)
        return .object(object)
    }

    private func choice(_ choice: Choice) -> JSONValue {
        ["name": .string(choice.name), "rule": .string(choice.rule.rawValue), "of": .array(choice.members.map { .string($0) })]
    }

    /// Returns an example pairing with recorded values in place of `$names`, or `nil` for an error, because a pairing cannot have an error
    /// as its result.
    private func example(_ example: Example) -> JSONValue? {
        guard case .result(let result) = example.outcome else { return nil }
        let params = (RecordedValues.fill(example.params).object?.members ?? []).map { name, value -> JSONValue in
            ["name": .string(name), "value": value]
        }
        return [
            "name": .string(example.name), "params": .array(params), "result": ["name": "result", "value": RecordedValues.fill(result)],
        ]
    }

    private func equivalents(_ all: [(vendor: String, name: String)]) -> JSONValue {
        var object = JSONObject()
        for (vendor, name) in all { object[vendor] = .string(name) }
        return .object(object)
    }
}

/// Generates the document as a file.
struct OpenRPCFile: Emitter {
    static let folder = ""
    func files(for contract: Contract) -> [GeneratedFile] { [OpenRPCEmitter(contract: contract).document] }
}
