import Contract
import JSON
import JSONRPC
import Platform

/// The categories of methods that can be offered in addition to public methods without secrets.
public enum ToolGrant: String, Sendable, CaseIterable {
    /// Methods for the developer, which require no proof.
    case admin
    /// Methods that accept or return secrets: tokens, passwords, codes, credentials.
    case secrets
}

/// The tools of a session, in the order of the contract.
struct ToolTable: Sendable {
    private let offering: MethodRegistry
    private let configuration: Configuration
    private let grants: Set<ToolGrant>
    /// The tools by name.
    private let offered: [String: Tool]
    private let order: [String]

    init(_ mintmark: Mintmark, grants: Set<ToolGrant>) {
        offering = MethodRegistry(mintmark)
        configuration = mintmark.configuration
        self.grants = grants
        let schemas = ToolSchema()
        var tools: [String: Tool] = [:]
        var order: [String] = []
        for info in Contract.MethodTable.all where Self.refusal(info, mintmark.configuration, grants, schemas) == nil {
            guard let method = offering.method(named: info.name) else { continue }
            let name = Tool.name(info)
            tools[name] = Tool(info: info, method: method)
            order.append(name)
        }
        offered = tools
        self.order = order
    }

    subscript(_ name: String) -> Tool? { offered[name] }

    /// All tools as one JSON array.
    var descriptions: JSONValue {
        let schemas = ToolSchema()
        return .array(order.compactMap { offered[$0] }.map { Tool.description($0.info, Self.openRPC($0.info), schemas) })
    }

    /// Returns a human-readable message that states why the tool is not available and how to enable it.
    func reasonWithout(_ name: String) -> String {
        let methods = Contract.MethodTable.all
        if let info = methods.first(where: { Tool.name($0) == name || $0.name == name }) {
            if let tool = offered[Tool.name(info)] {
                return "Unknown tool \(name). The tool of method \(info.name) is \(Tool.name(tool.info))."
            }
            return "The tool \(name) is not available: \(Self.refusal(info, configuration, grants, ToolSchema()) ?? "")"
        }
        let hint = NearestNames.hint(name, among: order, otherwise: "To list the tools, call tools/list.")
        return "Unknown tool \(String(name.unicodeScalars.prefix(128))).\(hint)"
    }

    /// Returns the reason a method is not a tool in this session, or `nil` if it is one of its tools.
    private static func refusal(
        _ info: MethodInfo, _ configuration: Configuration, _ grants: Set<ToolGrant>, _ schemas: ToolSchema
    ) -> String? {
        // `tools/list` returns the same information.
        if info.name == "rpc.discover" { return "To list the tools, call tools/list." }
        if info.isTesting, !configuration.testing { return "it requires a testing store. Start mintmark mcp with --testing." }
        var needed = grants
        if info.caller != .public { needed.insert(.admin) }
        if schemas.hasSecrets(openRPC(info)) { needed.insert(.secrets) }
        if needed == grants { return nil }
        let list = ToolGrant.allCases.filter { needed.contains($0) }.map(\.rawValue).joined(separator: ",")
        let reasons: [ToolGrant: String] = [.admin: "requires the access level developer", .secrets: "accepts or returns secrets"]
        let what = ToolGrant.allCases.filter { needed.subtracting(grants).contains($0) }.compactMap { reasons[$0] }
        return "it \(what.joined(separator: " and ")). Start mintmark mcp with --allow \(list)."
    }

    static func openRPC(_ info: MethodInfo) -> JSONValue { (try? JSONValue(parsing: info.openRPC.description)) ?? [:] }
}
