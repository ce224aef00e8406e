import JSON
import JSONRPC

/// How a request states its protocol revision: by an earlier `initialize`, or by itself since 2026-07-28.
enum RequestEra {
    static let stateless = "2026-07-28"
    static let versionKey = "io.modelcontextprotocol/protocolVersion"
    static let capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
    static let serverKey = "io.modelcontextprotocol/serverInfo"
    private static let clientKey = "io.modelcontextprotocol/clientInfo"

    /// The revisions, latest first.
    static var supported: [String] { [stateless] + ModelContextSession.Revision.allCases.reversed().map(\.rawValue) }

    /// Whether the request states its revision by itself.
    static func isStateless(_ params: JSONNode?) -> Bool {
        guard let meta = params?["_meta"], meta.kind == .object else { return false }
        return [versionKey, capabilitiesKey, clientKey].contains { meta[$0] != nil }
    }

    /// Checks the members that every stateless request has.
    ///
    /// - Throws: `MalformedToolCall` if one is missing; `UnsupportedProtocolVersion`.
    static func check(_ params: JSONNode?) throws {
        let meta = params?["_meta"]
        guard let version = meta?[versionKey]?.string else { throw missing(versionKey, "a string, such as \(stateless)") }
        guard version == stateless else { throw UnsupportedProtocolVersion(requested: String(version.unicodeScalars.prefix(64))) }
        guard meta?[capabilitiesKey]?.kind == .object else { throw missing(capabilitiesKey, "an object, which can be empty") }
    }

    private static func missing(_ key: String, _ what: String) -> MalformedToolCall {
        MalformedToolCall(
            pointer: "/_meta/\(key.replacing("/", with: "~1"))",
            reason: "Every request of revision \(stateless) needs _meta with \(key), \(what).")
    }
}

/// A request of a revision that the server does not support (-32022).
struct UnsupportedProtocolVersion: ResponseError {
    let requested: String
    var code: Int { -32022 }
    var type: String { "unsupportedProtocolVersion" }
    var message: String {
        """
        Unsupported protocol version \(requested). Supported versions: \(RequestEra.supported.joined(separator: ", ")). A session of a \
        version before \(RequestEra.stateless) begins with initialize.
        """
    }

    func writeData(to writer: inout JSONWriter) {
        writer.value(["supported": .array(RequestEra.supported.map { .string($0) }), "requested": .string(requested)])
    }
}

/// The time for which the result of a stateless request can be kept, and the users who may share it.
struct CacheHint {
    let seconds: Int
    var isPublic = false

    /// Does not change while the process runs.
    static let process = CacheHint(seconds: 3600)
    /// Is the same in every process of this version.
    static let guide = CacheHint(seconds: 86400, isPublic: true)
    static let keys = CacheHint(seconds: 60)
}
