import Contract
import JSON
import JSONRPC
import Platform

/// The options of `mintmark mcp`.
public struct ToolSettings: Sendable {
    let levels: ToolLevels
    /// The value of `--tools`.
    let tools: String?
    /// The option or variable with the tools, for error messages.
    let toolsSource: String
    /// Whether the list of tools includes the schemas of the results.
    let outputSchemas: Bool

    public init(levels: ToolLevels, tools: String?, toolsSource: String, outputSchemas: Bool) {
        self.levels = levels
        self.tools = tools
        self.toolsSource = toolsSource
        self.outputSchemas = outputSchemas
    }
}

/// The tools of a session, in the order of the contract.
struct ToolTable: Sendable {
    static let describeName = "describe_method"

    let names: ToolNames
    let registry: MethodRegistry
    private let settings: ToolSettings
    /// The tools by name.
    private let offered: [String: Tool]
    private let order: [Tool]

    /// - Throws: `InvalidToolOption` if the selection of tools is not valid.
    init(_ mintmark: Mintmark, _ settings: ToolSettings) throws(InvalidToolOption) {
        let registry = MethodRegistry(mintmark)
        let configuration = mintmark.configuration
        let selection = try ToolSelection(settings.tools, from: settings.toolsSource, levels: settings.levels)
        // `tools/list` returns the same information as `rpc.discover`.
        let methods = Contract.MethodTable.all.filter { $0.name != "rpc.discover" }
        try selection.check([(Self.describeName, nil)] + methods.map { (Tool.name($0), $0) }) { info in
            Self.refusal(of: info, configuration, settings, isSelected: true)
        }
        names = ToolNames { info in
            info.name == "rpc.discover"
                ? nil
                : Self.refusal(of: info, configuration, settings, isSelected: selection.contains(Tool.name(info), info))
        }
        var order: [Tool] = []
        if selection.contains(Self.describeName, nil) {
            order.append(Tool(name: Self.describeName, info: nil, method: MethodDescription(names: names).method))
        }
        for info in methods where names.refusal(info) == nil {
            if let method = registry.method(named: info.name) { order.append(Tool(name: Tool.name(info), info: info, method: method)) }
        }
        if order.isEmpty { throw selection.emptyError }
        self.order = order
        self.registry = registry
        self.settings = settings
        offered = Dictionary(uniqueKeysWithValues: order.map { ($0.name, $0) })
    }

    subscript(_ name: String) -> Tool? { offered[name] }

    /// All tools as one JSON array.
    var descriptions: JSONValue {
        let schemas = ToolSchema(names: names, secrets: settings.levels.secrets)
        return .array(
            order.map { tool in
                tool.info.map { Tool.description($0, schemas, output: settings.outputSchemas) } ?? MethodDescription.description
            })
    }

    /// Returns the error for a tool that is not offered: a result that tells the model how it is offered, or a protocol error.
    func errorWithout(_ name: String) -> any ResponseError {
        let methods = Contract.MethodTable.all
        if let info = methods.first(where: { Tool.name($0) == name || $0.name == name }) {
            if let tool = offered[Tool.name(info)] {
                return MalformedToolCall(
                    pointer: "/name", reason: "Unknown tool \(name). The tool of method \(info.name) is \(tool.name).")
            }
            if let reason = names.refusal(info) { return ToolNotOffered(tool: Tool.name(info), reason: reason) }
        }
        if name == Self.describeName { return ToolNotOffered(tool: name, reason: "start mintmark mcp with \(name) in --tools.") }
        let hint = NearestNames.hint(name, among: order.map(\.name), otherwise: "To list the tools, call tools/list.")
        return MalformedToolCall(pointer: "/name", reason: "Unknown tool \(String(name.unicodeScalars.prefix(128))).\(hint)")
    }

    /// Refuses secret arguments that the model is not permitted to give.
    func checkSecrets(_ tool: Tool, _ arguments: JSONNode?) throws {
        guard !settings.levels.secrets, let info = tool.info, let arguments else { return }
        let schemas = ToolSchema(names: names, secrets: false)
        guard let path = schemas.secret(in: arguments, of: Self.openRPC(info)) else { return }
        let option = settings.levels.including(info)
        throw ToolNotOffered(
            tool: "\(tool.name) with the secret argument \(path)", reason: "start mintmark mcp with --allow \(option.option),secrets.")
    }

    /// Returns the reason a method is not a tool in this session, as a clause, or `nil` if it is one of its tools.
    private static func refusal(
        of info: MethodInfo, _ configuration: Configuration, _ settings: ToolSettings, isSelected: Bool
    ) -> String? {
        if info.isTesting, !configuration.testing { return "it requires a testing store: start mintmark mcp with --testing." }
        if configuration.publicCaller, info.caller != .public {
            return "it requires the access level developer: start mintmark mcp without --caller public."
        }
        var options: [String] = []
        if !settings.levels.permits(info) { options.append("--allow \(settings.levels.including(info).option)") }
        if !isSelected {
            let given = (settings.tools ?? "").split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.hasPrefix("-") }
            options.append("--tools \((given.isEmpty ? ["default"] : given).joined(separator: ",")),\(Tool.name(info))")
        }
        return options.isEmpty ? nil : "start mintmark mcp with \(options.joined(separator: " "))."
    }

    static func openRPC(_ info: MethodInfo) -> JSONValue { (try? JSONValue(parsing: info.openRPC)) ?? [:] }
}
