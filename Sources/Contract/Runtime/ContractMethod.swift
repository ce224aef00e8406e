import JSON
import Storage

/// A method of the contract: its parameters, its result and its metadata.
public protocol ContractMethod {
    associatedtype Params: ContractParams
    associatedtype Result: ContractResult
    /// The metadata of the method.
    static var info: MethodInfo { get }
}

/// Parameters that are validated while they are decoded.
public protocol ContractParams: Sendable {
    /// Decodes the object at which `reader` is, and reports violations to it. The value is meaningless if there are any.
    init(_ reader: inout ParamsReader)
}

extension ContractParams {
    /// Decodes the `params` of a request. Omitted params are equivalent to an empty object.
    ///
    /// - Throws: `InvalidParams` with every violation.
    @inlinable
    public init(decoding node: JSONNode?) throws(InvalidParams) {
        var reader = try ParamsReader(params: node)
        let params = Self(&reader)
        if !reader.isFine {
            reader.trace()
            _ = Self(&reader)
            throw InvalidParams(violations: reader.violations)
        }
        self = params
    }
}

/// A result that can be written as JSON.
public protocol ContractResult: Sendable {
    /// Writes one JSON value.
    func write(to writer: inout JSONWriter)
}

/// A notification that the service sends.
public protocol ContractNotification {
    associatedtype Params: ContractResult
    /// The name, in the form `namespace/event`.
    static var name: String { get }
}

/// An error of the contract. Handlers throw it where a rule is violated, and the caller receives it unchanged.
public protocol ContractError: Error, Sendable, Equatable {
    /// The error code, which is unique to this error type.
    static var code: Int { get }
    /// The stable name of the error type, sent as `data.type`.
    static var type: String { get }
    /// A human-readable message that includes the next step.
    var message: String { get }
    /// Writes `error.data`, which is one object.
    func writeData(to writer: inout JSONWriter)
}

extension ContractError {
    public var code: Int { Self.code }
}

/// The properties of a request that a handler can use in addition to its parameters.
public protocol CallContext: Sendable {
    /// The caller's trace ID for the request.
    var trace: String? { get }
    /// The interface through which the request arrived, for the audit log; `nil` for the pipe and for Swift programs.
    var actor: String? { get }
    /// Whether the caller no longer needs the response.
    var isCancelled: Bool { get }
    /// How the handler uses the store.
    var storeAccess: StoreAccess { get }
    /// Whether the caller has the access level `public`, which offers only methods that verify a proof themselves.
    var isPublicCaller: Bool { get }
    /// Reports the progress of a long request.
    func progress(_ value: JSONValue)
    /// Sends a notification immediately, before the response.
    func notify<N: ContractNotification>(_: N.Type, _ params: N.Params)
    /// Whether the call can defer its response without blocking a thread, so that `Wait.event` blocks none.
    var mayAnswerLater: Bool { get }
    /// Runs `body`, which waits for others, such as other machines. The lane of the call starts another thread in the meantime if there is
    /// work for it.
    func blocking<R>(_ body: () throws -> R) rethrows -> R
}

extension CallContext {
    /// By default, there is no receiver for notifications.
    public func notify<N: ContractNotification>(_: N.Type, _ params: N.Params) {}
    public var storeAccess: StoreAccess { .patient }
    public var mayAnswerLater: Bool { false }
    public var actor: String? { nil }
    public func blocking<R>(_ body: () throws -> R) rethrows -> R { try body() }
}

/// A set of handlers that use the store.
public protocol CallScoped: Sendable {
    /// Returns the same handlers with the store access of a call. The default is for handlers that can always wait.
    func scoped(to call: any CallContext) -> Self
}

extension CallScoped {
    public func scoped(to call: any CallContext) -> Self { self }
}

/// A method with its handler.
public final class BoundMethod: Sendable {
    public let info: MethodInfo
    /// Decodes the parameters, calls the handler and writes the result, or returns the rest of the method.
    ///
    /// - Throws: `InvalidParams`, or the error that the handler throws.
    public let run: Run

    /// How a method runs.
    public enum Run: Sendable {
        /// In one go. On a thread that must not wait, the handler waits at most for reads.
        case whole(Whole)
        /// In phases, of which the first never waits for long.
        case phases(@Sendable (_ params: JSONNode?, _ call: any CallContext, _ writer: inout JSONWriter) throws -> Suspension?)
    }

    public typealias Whole = @Sendable (_ params: JSONNode?, _ call: any CallContext, _ writer: inout JSONWriter) throws -> Void

    init(_ info: MethodInfo, _ run: @escaping Whole) {
        self.info = info
        self.run = .whole(run)
    }

    /// Binds a method to a handler that has phases.
    public init<M: ContractMethod>(
        _: M.Type, phases: @escaping @Sendable (_ request: M.Params, _ call: any CallContext) throws -> Phase<M.Result>
    ) {
        info = M.info
        run = .phases { params, call, writer in try phases(M.Params(decoding: params), call).write(to: &writer) }
    }
}
