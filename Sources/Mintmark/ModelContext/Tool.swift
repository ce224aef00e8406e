import Contract
import JSON
import JSONRPC

/// A method of the contract as a tool of the Model Context Protocol.
struct Tool: Sendable {
    let info: MethodInfo
    let method: JSONRPC.Method

    /// Returns the method name with `_` instead of the dot, because many clients accept only letters, digits, `_` and `-`.
    static func name(_ info: MethodInfo) -> String { String(info.name.map { $0 == "." ? "_" : $0 }) }

    /// Returns the tool in the format of `tools/list`.
    static func description(_ info: MethodInfo, _ object: JSONValue, _ schemas: ToolSchema) -> JSONValue {
        let hints = ToolHints(info)
        let title = info.summary.hasSuffix(".") ? String(info.summary.dropLast()) : info.summary
        return [
            "name": .string(name(info)), "title": .string(title),
            "description": .string(([info.summary, info.description] + choices(object)).filter { !$0.isEmpty }.joined(separator: " ")),
            "inputSchema": schemas.input(object), "outputSchema": schemas.output(object),
            "annotations": [
                "title": .string(title), "readOnlyHint": .bool(hints.readOnly), "destructiveHint": .bool(hints.destructive),
                "idempotentHint": .bool(hints.idempotent), "openWorldHint": .bool(hints.openWorld),
            ],
        ]
    }

    /// Describes mutually exclusive parameters as text, because many clients do not support such rules in a schema.
    private static func choices(_ object: JSONValue) -> [String] {
        (object["x-choices"]?.array ?? []).map { choice in
            let names = (choice["of"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
            switch choice["rule"]?.string {
            case "exactlyOne": return "Give exactly one of \(names)."
            case "atMostOne": return "Give at most one of \(names)."
            default: return "Give at least one of \(names)."
            }
        }
    }
}
