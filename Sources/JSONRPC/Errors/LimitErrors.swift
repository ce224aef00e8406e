import JSON

/// The process is exiting and did not start or complete this request (1001). Another process may serve a retry.
public struct ShuttingDown: ResponseError {
    public let retryAfterSeconds: Int
    public var code: Int { 1001 }
    public var type: String { "shuttingDown" }
    public var message: String { WireTexts.shuttingDown() }

    public init(retryAfterSeconds: Int = 1) { self.retryAfterSeconds = retryAfterSeconds }

    public func writeData(to writer: inout JSONWriter) { writeRetry(type, after: retryAfterSeconds, to: &writer) }
}

/// The response exceeds the maximum length that the server sends (1002).
public struct ResultTooLarge: ResponseError {
    /// The maximum length, in bytes.
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

/// The number of requests that wait for users has reached its limit (1003). The request may succeed after some of them have ended.
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
