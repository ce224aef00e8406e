import Contract
import JSON
import JSONRPC

/// A guide for `mintmark://guides/TOPIC`.
public struct ModelContextGuide: Sendable {
    let name: String
    let title: String
    /// The guide in Markdown.
    let text: String

    public init(name: String, title: String, text: String) {
        self.name = name
        self.title = title
        self.text = text
    }
}

/// The resources: the guides, the glossary, the errors, the public keys, and a description of each method.
struct ModelContextResources: Sendable {
    struct Content {
        let type: String
        let text: String
        let cache: CacheHint
    }

    static let keySet = "mintmark://jwks"
    private static let scheme = "mintmark://"
    private static let markdown = "text/markdown"
    private static let json = "application/json"

    let names: ToolNames
    let registry: MethodRegistry
    let guides: @Sendable () -> [ModelContextGuide]

    var keySetLane: Lane { registry.method(named: "token.jwks")?.lane(nil) ?? .store }

    var list: JSONValue {
        func resource(_ path: String, _ name: String, _ title: String, type: String, text: String) -> JSONValue {
            [
                "uri": .string(Self.scheme + path), "name": .string(name), "title": .string(title), "description": .string(text),
                "mimeType": .string(type),
            ]
        }
        let guides = guides().map { resource("guides/\($0.name)", $0.name, $0.title, type: Self.markdown, text: "A guide: \($0.title).") }
        return .array(
            guides + [
                resource("glossary", "glossary", "Glossary", type: Self.markdown, text: "The terms of this service."),
                resource(
                    "errors", "errors", "Errors", type: Self.markdown,
                    text: "Every error with its number and the condition under which it occurs."),
                resource(
                    "jwks", "jwks", "Public keys", type: Self.json,
                    text: "The keys with which tokens of all pools and tenants are verified (RFC 7517)."
                ),
            ])
    }

    var templates: JSONValue {
        [
            [
                "uriTemplate": "mintmark://methods/{method}", "name": "method", "title": "Description of a tool",
                "description": "The schema, errors and examples of a tool, such as account_find.", "mimeType": .string(Self.json),
            ]
        ]
    }

    /// Returns the content of a resource, or `nil` if there is none with this URI.
    ///
    /// - Throws: The errors of `token.jwks`.
    func read(_ uri: String, _ call: Call) throws -> Content? {
        guard uri.hasPrefix(Self.scheme) else { return nil }
        let path = uri.dropFirst(Self.scheme.count)
        if path == "jwks" {
            guard let method = registry.method(named: "token.jwks") else { return nil }
            var writer = JSONWriter()
            try method.run(call, nil, &writer)
            return Content(type: Self.json, text: String(decoding: writer.bytes, as: UTF8.self), cache: .keys)
        }
        if path == "errors" { return Content(type: Self.markdown, text: errors, cache: .process) }
        if path.hasPrefix("methods/") {
            guard let description = MethodDescription(names: names).description(of: String(path.dropFirst(8))) else { return nil }
            var writer = JSONWriter()
            writer.value(description)
            return Content(type: Self.json, text: String(decoding: writer.bytes, as: UTF8.self), cache: .process)
        }
        let name = path == "glossary" ? "glossary" : path.hasPrefix("guides/") ? String(path.dropFirst(7)) : ""
        return guides().first { $0.name == name }.map { Content(type: Self.markdown, text: $0.text, cache: .guide) }
    }

    private var errors: String {
        let rows = Contract.ErrorTable.all.map { "| `\($0.type)` | \($0.code) | \(names.text($0.when)) |" }
        return (["# Errors", "", "| type | code | when |", "|---|---|---|"] + rows + [""]).joined(separator: "\n")
    }
}

/// A resource that does not exist: -32002 before the revision 2026-07-28, and -32602 since.
struct ResourceNotFound: ResponseError {
    let uri: String
    let isStateless: Bool
    var code: Int { isStateless ? InvalidParams.code : -32002 }
    var type: String { "resourceNotFound" }
    var message: String { "Unknown resource \(uri). To list the resources, call resources/list." }

    func writeData(to writer: inout JSONWriter) { writer.value(["type": .string(type), "uri": .string(uri)]) }
}
