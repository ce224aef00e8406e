import JSON

/// The process is ending and did not get to this request, or did not finish it (1001). May be tried again elsewhere.
public struct ShuttingDown: ResponseError {
    public let retryAfterSeconds: Int
    public var code: Int { 1001 }
    public var type: String { "shuttingDown" }
    public var message: String { WireTexts.shuttingDown() }

    public init(retryAfterSeconds: Int = 1) { self.retryAfterSeconds = retryAfterSeconds }

    public func writeData(to writer: inout JSONWriter) { writeRetry(type, after: retryAfterSeconds, to: &writer) }
}

/// The answer would be longer than the server sends (1002).
public struct ResultTooLarge: ResponseError {
    /// In bytes.
    public let limit: Int
    public var code: Int { 1002 }
    public var type: String { "resultTooLarge" }
    public var message: String { WireTexts.resultTooLarge(maximumBytes: String(limit)) }

    public init(limit: Int) { self.limit = limit }

    public func writeData(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.key("maximumBytes")
        writer.int(limit)
        writer.endObject()
    }
}

/// Too many requests wait for people at the same time (1003). May be tried again when some of them have ended.
public struct TooManyRequests: ResponseError {
    public let retryAfterSeconds: Int
    public var code: Int { 1003 }
    public var type: String { "tooManyRequests" }
    public var message: String { WireTexts.tooManyRequests(retryAfterSeconds: String(retryAfterSeconds)) }

    public init(retryAfterSeconds: Int = 1) { self.retryAfterSeconds = retryAfterSeconds }

    public func writeData(to writer: inout JSONWriter) { writeRetry(type, after: retryAfterSeconds, to: &writer) }
}

private func writeRetry(_ type: String, after seconds: Int, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    writer.string(type)
    writer.key("retryAfterSeconds")
    writer.int(seconds)
    writer.endObject()
}
