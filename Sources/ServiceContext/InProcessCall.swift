import Contract
import JSON

/// A call from this process: from a Swift program that uses the library, or from an HTTP server of this process.
public struct InProcessCall: CallContext {
    public let trace: String?
    public var isCancelled: Bool { false }
    public var isPublicCaller: Bool { false }

    public init(trace: String? = nil) { self.trace = trace }

    public func progress(_ value: JSONValue) {}
}
