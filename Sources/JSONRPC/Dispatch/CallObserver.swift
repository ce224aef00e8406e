/// Observes every call, for metrics and logs. Its methods run on the thread of the call, before the response is sent, and must be fast.
public protocol CallObserver: Sendable {
    /// Called after a call got its response or a notification was handled.
    func ended(_ call: Call, _ report: CallReport)

    /// Called after a method threw an unexpected error. The caller receives an internal error. `error` may contain secrets.
    func failed(_ call: Call, with error: any Error, incident: String)

    /// Called after a message that is not a call got an error response of this type: `parseError`, `invalidRequest`, `methodNotFound` …
    func refused(_ errorType: String)
}

/// The measurements of a call.
public struct CallReport: Sendable {
    /// The time on the lane where the call ended, without queue time.
    public let durationNanoseconds: UInt64
    /// The `data.type` of the error response, or `nil` for a result.
    public let errorType: String?
    /// The size of the line or batch that contained the call.
    public let bytesIn: Int
    public let bytesOut: Int
    /// The number of the thread that ran the call, from 0. It allows counting without a shared lock.
    public let worker: Int
}

/// An observer that does nothing.
public struct NoObserver: CallObserver {
    public init() {}
    public func ended(_ call: Call, _ report: CallReport) {}
    public func failed(_ call: Call, with error: any Error, incident: String) {}
    public func refused(_ errorType: String) {}
}
