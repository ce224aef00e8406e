/// Is told of every call, for metrics and logs. Called on the thread that ran the call, before its answer is sent: be quick.
public protocol CallObserver: Sendable {
    /// A call was answered, or a notification handled.
    func ended(_ call: Call, _ report: CallReport)

    /// A method threw something that is no answer; the caller was told of an internal error. `error` may hold secrets.
    func failed(_ call: Call, with error: any Error, incident: String)

    /// Something that is no call was answered with an error of this type: `parseError`, `invalidRequest`, `methodNotFound` …
    func refused(_ errorType: String)
}

/// How a call went.
public struct CallReport: Sendable {
    /// Time on the lane where it ended, without the time in queues.
    public let durationNanoseconds: UInt64
    /// `data.type` of the error it was answered with; nil for a result.
    public let errorType: String?
    /// Of the line or batch that it came in.
    public let bytesIn: Int
    public let bytesOut: Int
    /// The thread that ran it: numbers from 0, for counting without a shared lock.
    public let worker: Int
}

/// Watches nothing.
public struct NoObserver: CallObserver {
    public init() {}
    public func ended(_ call: Call, _ report: CallReport) {}
    public func failed(_ call: Call, with error: any Error, incident: String) {}
    public func refused(_ errorType: String) {}
}
