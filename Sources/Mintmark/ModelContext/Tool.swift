import Contract
import JSON
import JSONRPC

/// A method of the contract as a tool of the Model Context Protocol, or `describe_method`, which has no method.
struct Tool: Sendable {
    let name: String
    let info: MethodInfo?
    let method: JSONRPC.Method

    /// Returns the method name with `_` instead of the dot, because many clients accept only letters, digits, `_` and `-`.
    static func name(_ info: MethodInfo) -> String { String(info.name.map { $0 == "." ? "_" : $0 }) }

    /// Returns the tool in the format of `tools/list`.
    ///
    /// - Parameter output: Whether to include the schema of the result.
    static func description(_ info: MethodInfo, _ schemas: ToolSchema, output: Bool) -> JSONValue {
        let hints = ToolHints(info)
        let object = ToolTable.openRPC(info)
        var tool: JSONObject = [
            "name": .string(name(info)), "title": .string(schemas.names.text(title(info))),
            "description": .string(text(info, object, schemas)),
            "inputSchema": schemas.input(object),
        ]
        if output { tool["outputSchema"] = schemas.output(object) }
        tool["annotations"] = [
            "readOnlyHint": .bool(hints.readOnly), "destructiveHint": .bool(hints.destructive), "idempotentHint": .bool(hints.idempotent),
            "openWorldHint": .bool(hints.openWorld),
        ]
        return .object(tool)
    }

    private static func title(_ info: MethodInfo) -> String { info.summary.hasSuffix(".") ? String(info.summary.dropLast()) : info.summary }

    /// Returns when to use the tool and which ones come next. `describe_method` has the details.
    private static func text(_ info: MethodInfo, _ object: JSONValue, _ schemas: ToolSchema) -> String {
        let names = schemas.names
        let first = info.use.isEmpty ? "Use this tool to \(info.summary.prefix(1).lowercased())\(info.summary.dropFirst())" : info.use
        let next = info.next.compactMap { name -> String? in
            guard let method = Contract.MethodTable.all.first(where: { $0.name == name }), names.refusal(method) == nil else { return nil }
            return Self.name(method)
        }
        let end = next.isEmpty ? [] : ["Next: \(next.joined(separator: " or "))."]
        return ([names.text(first)] + choices(object, schemas) + end).joined(separator: " ")
    }

    /// Describes mutually exclusive parameters as text, because many clients do not support such rules in a schema.
    private static func choices(_ object: JSONValue, _ schemas: ToolSchema) -> [String] {
        (object["x-choices"]?.array ?? []).compactMap { choice in
            let members = (choice["of"]?.array ?? []).compactMap(\.string).filter { !schemas.hides($0, of: object) }
            let names = members.joined(separator: ", ")
            if members.count == 1 { return choice["rule"]?.string == "atMostOne" ? nil : "Give \(names)." }
            switch choice["rule"]?.string {
            case "exactlyOne": return "Give exactly one of \(names)."
            case "atMostOne": return "Give at most one of \(names)."
            default: return "Give at least one of \(names)."
            }
        }
    }
}
