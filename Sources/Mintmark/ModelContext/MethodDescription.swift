import Contract
import JSON
import JSONRPC
import Platform

/// The tool `describe_method`: schema, errors and examples of any method.
struct MethodDescription: Sendable {
    let names: ToolNames

    static let description: JSONValue = [
        "name": .string(ToolTable.describeName), "title": "Describe a tool",
        "description": """
        Use this tool before the first call of another tool whose arguments or errors are not clear. Returns its schema, errors and \
        examples, also for tools that are not offered. Next: the tool itself.
        """,
        "inputSchema": [
            "type": "object", "properties": ["method": ["type": "string", "description": "The name of the tool, such as account_find."]],
            "required": ["method"], "additionalProperties": false,
        ],
        "annotations": ["readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false],
    ]

    var method: JSONRPC.Method {
        JSONRPC.Method(ToolTable.describeName) { _, params, result in
            guard let name = params?["method"]?.string, params?.count == 1 else {
                throw MalformedToolCall(
                    pointer: "/arguments/method", reason: "describe_method takes one argument, method: the name of a tool.",
                    isProtocolError: false)
            }
            guard let description = description(of: name) else {
                let hint = NearestNames.hint(
                    name, among: Contract.MethodTable.all.map(Tool.name), otherwise: "Call describe_method with the name of a tool.")
                throw MalformedToolCall(
                    pointer: "/arguments/method", reason: "No method has the name \(String(name.unicodeScalars.prefix(128))).\(hint)",
                    isProtocolError: false)
            }
            result.value(description)
        }
    }

    /// Returns the description of a method or tool, or `nil` if there is none with this name.
    func description(of name: String) -> JSONValue? {
        guard let info = Contract.MethodTable.all.first(where: { $0.name == name || Tool.name($0) == name }) else { return nil }
        let object = ToolTable.openRPC(info)
        let schemas = ToolSchema(names: names, secrets: true, isShort: false)
        let refusal = names.refusal(info)
        var description: JSONObject = [
            "tool": .string(Tool.name(info)), "method": .string(info.name), "offered": .bool(refusal == nil),
        ]
        if let refusal { description["howToOffer"] = .string(refusal) }
        description["level"] = .string(info.level.rawValue)
        description["carriesSecrets"] = .bool(info.carriesSecrets)
        description["summary"] = .string(names.text(info.summary))
        description["description"] = .string(names.text(info.description))
        if !info.use.isEmpty { description["use"] = .string(names.text(info.use)) }
        description["next"] = .array(info.next.compactMap { names.tool($0) }.map { .string($0) })
        description["inputSchema"] = schemas.input(object)
        description["outputSchema"] = schemas.output(object)
        description["errors"] = .array(
            info.errors.compactMap { type in Contract.ErrorTable.all.first { $0.type == type } }.map {
                ["type": .string($0.type), "code": .number(JSONNumber(Int64($0.code))), "when": .string(names.text($0.when))]
            })
        description["examples"] = .array((object["examples"]?.array ?? []).map(example))
        return .object(description)
    }

    private func example(_ pairing: JSONValue) -> JSONValue {
        var arguments = JSONObject()
        for param in pairing["params"]?.array ?? [] { if let name = param["name"]?.string { arguments[name] = param["value"] } }
        return [
            "name": pairing["name"] ?? .null, "arguments": .object(arguments),
            "result": names.value(pairing["result"]?["value"] ?? .null),
        ]
    }
}
