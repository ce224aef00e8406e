import JSON

/// The OpenRPC 1.4 document, limited to the methods that a process offers. It is parsed and built on demand.
public enum OpenRPCDocument {
    /// The shared schemas, by name.
    public static var sharedSchemas: JSONObject { component("schemas") }

    /// The errors, by type.
    static var errors: JSONObject { component("errors") }

    /// The schemas of the error data, by error type.
    public static var errorDataSchemas: JSONObject {
        var schemas = JSONObject()
        for (type, error) in errors.members { schemas[type] = error["data"] }
        return schemas
    }

    private static func component(_ name: String) -> JSONObject {
        (try? JSONValue(parsing: String(decoding: components.bytes, as: UTF8.self)))?[name]?.object ?? [:]
    }

    /// Returns the document with the methods for which `isOffered` returns `true`.
    public static func describing(_ isOffered: (MethodInfo) -> Bool) -> EncodedObject {
        var writer = JSONWriter(reservingCapacity: 1 << 17)
        writer.beginObject()
        writer.key("openrpc")
        writer.raw(version)
        writer.key("info")
        writer.raw(info)
        writer.key("methods")
        writer.beginArray()
        for method in MethodTable.all where isOffered(method) { writer.raw(method.openRPC) }
        writer.endArray()
        writer.key("components")
        writer.raw(components.bytes)
        writer.key("x-notifications")
        writer.beginArray()
        for (namespace, document) in notifications
        where MethodTable.all.contains(where: { $0.name.hasPrefix(namespace + ".") && isOffered($0) }) {
            writer.raw(document.bytes)
        }
        writer.endArray()
        writer.endObject()
        return EncodedObject(encoded: writer.bytes)
    }
}
