import JSON

/// The text is not valid JSON (-32700).
public struct ParseError: ResponseError {
    /// The position of the error in the line, in bytes from 0.
    public let offset: Int
    public let reason: String
    public var code: Int { -32700 }
    public var type: String { "parseError" }
    public var message: String { WireTexts.parseError(reason: reason, offset: String(offset)) }

    init(_ error: JSONSyntaxError, in text: UnsafeRawBufferPointer) {
        offset = error.offset
        let isHeader = text.starts(with: "Content-Length:".utf8)
        reason =
            error.reason.rawValue + (error.reason == .tooDeep ? " (at most 64 levels)" : "")
            + (isHeader ? "; to read messages with such a header, use --framing content-length" : "")
    }

    public func writeData(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.key("reason")
        writer.string(reason)
        writer.key("offset")
        writer.int(offset)
        writer.endObject()
    }
}

/// The text is valid JSON but not a request (-32600).
public struct InvalidRequest: ResponseError {
    /// A clause without a final period.
    public let reason: String
    public var code: Int { -32600 }
    public var type: String { "invalidRequest" }
    public var message: String { WireTexts.invalidRequest(reason: reason) }

    public init(_ reason: String) { self.reason = reason }

    public func writeData(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.key("reason")
        writer.string(reason)
        writer.endObject()
    }
}

/// The method does not exist (-32601).
public struct MethodNotFound: ResponseError {
    public let method: String
    /// Similar method names, best match first.
    public let nearest: [String]
    public var code: Int { -32601 }
    public var type: String { "methodNotFound" }

    /// The option with which the process offers the method, or `nil` if no option does.
    private let testingOption: String?
    /// The next step, in a dialect whose methods differ from the contract.
    private let advice: String?

    public init(_ method: String, nearest: [String], testingOption: String? = nil, advice: String? = nil) {
        self.method = String(method.unicodeScalars.prefix(128))
        self.nearest = nearest
        self.testingOption = testingOption
        self.advice = advice
    }

    public var message: String {
        if let advice { return "Unknown method \(method). \(advice)" }
        return WireTexts.methodNotFound(method: method, testingOption: testingOption ?? "", nearest: nearest.joined(separator: ", "))
    }

    public func writeData(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.key("method")
        writer.string(method)
        writer.key("nearest")
        writer.beginArray()
        for name in nearest { writer.string(name) }
        writer.endArray()
        if let testingOption {
            writer.key("testingOption")
            writer.string(testingOption)
        }
        writer.endObject()
    }
}

/// The params are not an object (-32602).
public struct ParamsNotByName: ResponseError {
    public var code: Int { -32602 }
    public var type: String { "invalidParams" }
    public var message: String { WireTexts.invalidParams(violations: violation) }
    private var violation: String { "params must be an object or omitted: parameters are passed by name." }

    public init() {}

    public func writeData(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.key("violations")
        writer.beginArray()
        writer.beginObject()
        writer.key("pointer")
        writer.string("")
        writer.key("rule")
        writer.string("type")
        writer.key("message")
        writer.string(violation)
        writer.endObject()
        writer.endArray()
        writer.endObject()
    }
}

/// An unexpected failure without a specific error type (-32603). The response omits the cause, which may contain secrets.
public struct InternalError: ResponseError {
    public var code: Int { -32603 }
    public var type: String { "internalError" }
    public var message: String { WireTexts.internalError(incident: incident) }
    /// The identifier of the failure, which is also written to the log.
    public let incident: String

    public init(incident: String = Self.newIncident()) { self.incident = incident }

    /// Returns a random identifier that distinguishes this failure from others.
    public static func newIncident() -> String { String(UInt32.random(in: .min ... .max), radix: 16) }

    public func writeData(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.key("incident")
        writer.string(incident)
        writer.endObject()
    }
}

/// The caller canceled the request before anything was committed (-32800, as in the Language Server Protocol).
public struct RequestCancelled: ResponseError {
    public var code: Int { -32800 }
    public var type: String { "requestCancelled" }
    public var message: String { WireTexts.requestCancelled() }

    public init() {}
}
