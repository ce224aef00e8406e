import Contract
import JSON

/// A call that a Swift program makes in process.
public struct OwnCall: CallContext {
    public let trace: String?
    public var isCancelled: Bool { false }
    public var isPublicCaller: Bool { false }

    public init(trace: String? = nil) { self.trace = trace }

    public func progress(_ value: JSONValue) {}
}
