import Contract
import JSON
import JSONRPC
import Platform
import Synchronization

/// A Model Context Protocol session, revisions 2025-06-18 and 2025-11-25. Exposes the contract's methods as tools.
public final class ModelContextSession: MethodLookup {
    /// A protocol revision.
    enum Revision: String, CaseIterable {
        case june2025 = "2025-06-18"
        case november2025 = "2025-11-25"
    }

    private let tools: ToolTable
    private let agreed = Mutex<Revision?>(nil)

    /// - Parameter grants: The categories of methods to offer in addition to public methods without secrets.
    public init(_ mintmark: Mintmark, grants: Set<ToolGrant>) { tools = ToolTable(mintmark, grants: grants) }

    /// The negotiated revision, or `nil` before `initialize`.
    var revision: Revision? { agreed.withLock { $0 } }

    public func nearest(to name: String) -> [String] {
        NearestNames.of(name, among: ["initialize", "ping", "tools/list", "tools/call"])
    }

    public func method(named name: String) -> JSONRPC.Method? {
        switch name {
        case "initialize": JSONRPC.Method(name) { try self.initialize($1, &$2) }
        case "ping":
            JSONRPC.Method(name) { _, _, result in
                result.beginObject()
                result.endObject()
            }
        case "notifications/initialized": JSONRPC.Method(name) { _, _, _ in }
        case "notifications/cancelled":
            JSONRPC.Method(name) { call, params, _ in if let id = params?["requestId"] { call.cancelRequests(id) } }
        case "tools/list": JSONRPC.Method(name) { try self.list($1, &$2) }
        case "tools/call":
            JSONRPC.Method(
                name, lane: { params in self.tool(params).map { $0.method.lane(params?["arguments"]) } ?? .compute },
                form: ToolAnswers(session: self)
            ) {
                try self.call($0, $1, &$2)
            }
        default: nil
        }
    }

    // MARK: initialize

    /// Negotiates the revision: the one that the client requests, or the latest if that one is not supported. A client that does not
    /// support the result disconnects.
    private func initialize(_ params: JSONNode?, _ result: inout JSONWriter) throws {
        guard let asked = params?["protocolVersion"]?.string else {
            throw MalformedToolCall(pointer: "/protocolVersion", reason: "initialize requires protocolVersion, such as 2025-11-25.")
        }
        let revision = Revision(rawValue: asked) ?? .november2025
        let isFirst = agreed.withLock { agreed in
            defer { if agreed == nil { agreed = revision } }
            return agreed == nil
        }
        guard isFirst else { throw JSONRPC.InvalidRequest("the session is already initialized") }
        result.value([
            "protocolVersion": .string(revision.rawValue), "capabilities": ["tools": [:]],
            "serverInfo": ["name": "mintmark", "title": "Mintmark", "version": .string(Mintmark.version)],
            "instructions": """
            An identity service. Each tool is one method. Times are integer seconds since 1970-01-01 UTC. Errors state what to \
            do next. Identities, pools and tokens belong to real users of the store that this process was started with.
            """,
        ])
    }

    private func requireInitialized(_ method: String) throws {
        if revision == nil { throw JSONRPC.InvalidRequest("\(method) requires initialize first") }
    }

    // MARK: Tools

    private func list(_ params: JSONNode?, _ result: inout JSONWriter) throws {
        try requireInitialized("tools/list")
        if let cursor = params?["cursor"], !cursor.isNull {
            throw MalformedToolCall(pointer: "/cursor", reason: "tools/list returns a single page without a cursor. Omit cursor.")
        }
        result.value(["tools": tools.descriptions])
    }

    private func tool(_ params: JSONNode?) -> Tool? { params?["name"]?.string.flatMap { tools[$0] } }

    private func call(_ call: Call, _ params: JSONNode?, _ result: inout JSONWriter) throws {
        try requireInitialized("tools/call")
        guard let name = params?["name"]?.string else {
            throw MalformedToolCall(pointer: "/name", reason: "tools/call requires the name of a tool.")
        }
        guard let tool = tools[name] else { throw MalformedToolCall(pointer: "/name", reason: tools.reasonWithout(name)) }
        var arguments = params?["arguments"]
        if arguments?.isNull == true { arguments = nil }
        if let arguments, arguments.kind != .object {
            throw MalformedToolCall(pointer: "/arguments", reason: "The arguments of a tool must be an object; \(name) takes them by name.")
        }
        try tool.method.run(call, arguments, &result)
    }
}
