import JSON

/// A method of the contract: what goes in, what comes out, and what is known about it.
public protocol ContractMethod {
    associatedtype Params: ContractParams
    associatedtype Result: ContractResult
    /// What is known about the method without calling it.
    static var info: MethodInfo { get }
}

/// Parameters that validate while they are decoded.
public protocol ContractParams: Sendable {
    /// Reads `node`, an object. What is wrong with it goes to `reader`; nil if there is then nothing to show for it.
    init?(_ node: JSONNode, _ reader: inout ParamsReader)
}

extension ContractParams {
    /// Reads the `params` of a request; absent ones are those of an empty object.
    ///
    /// - Throws: `InvalidParams` with every violation.
    @inlinable
    public init(decoding node: JSONNode?) throws(InvalidParams) {
        var reader = ParamsReader(isTracing: false)
        guard let params = reader.root(node, as: Self.self), reader.isFine else {
            var tracing = ParamsReader(isTracing: true)
            _ = tracing.root(node, as: Self.self)
            throw InvalidParams(violations: tracing.violations)
        }
        self = params
    }
}

/// A result that writes itself.
public protocol ContractResult: Sendable {
    /// Writes one JSON value.
    func write(to writer: inout JSONWriter)
}

/// What the service tells without being asked.
public protocol ContractNotification {
    associatedtype Params: ContractResult
    /// `namespace/event`.
    static var name: String { get }
}

/// An error of the contract. Thrown where the rule is broken, answered as it is.
public protocol ContractError: Error, Sendable, Equatable {
    /// The number that belongs to this type of error alone.
    static var code: Int { get }
    /// The stable name, `data.type` of the answer.
    static var type: String { get }
    /// For people; says what to do next.
    var message: String { get }
    /// Writes `error.data`: one object.
    func writeData(to writer: inout JSONWriter)
}

extension ContractError {
    public var code: Int { Self.code }
}

/// What a handler may know of the request beside its parameters.
public protocol CallContext: Sendable {
    /// The caller's own mark on the request.
    var trace: String? { get }
    /// Whether the caller no longer wants the answer.
    var isCancelled: Bool { get }
    /// Whether the handler runs for the first time. A call that has to wait runs again, from its beginning.
    var isFirstRun: Bool { get }
    /// Whether the pipe offers only what proves itself.
    var isPublicCaller: Bool { get }
    /// Reports how far a long request has come.
    func progress(_ value: JSONValue)
    /// Tells the caller what it did not ask for, at once: before the answer.
    func notify<N: ContractNotification>(_: N.Type, _ params: N.Params)
    /// Whether the call may give its answer later and hold no thread until then, so that a handler may throw `AnsweredByOther`. If
    /// not, it waits itself.
    var mayAnswerLater: Bool { get }
}

extension CallContext {
    /// Nobody listens.
    public func notify<N: ContractNotification>(_: N.Type, _ params: N.Params) {}
    public var mayAnswerLater: Bool { false }
    public var isFirstRun: Bool { true }
}

/// Thrown by a handler whose answer another call is about to find: this call is answered with that, and holds no thread until then.
public struct AnsweredByOther: Error {
    public typealias Listener = @Sendable (Swift.Result<any ContractResult, any Error>) -> Void

    /// Calls the listener once, when the answer is known; at once if it is.
    public let whenDone: @Sendable (@escaping Listener) -> Void

    public init(whenDone: @escaping @Sendable (@escaping Listener) -> Void) { self.whenDone = whenDone }
}

/// A method bound to its handler.
public final class BoundMethod: Sendable {
    public let info: MethodInfo
    /// Decodes the parameters, calls the handler, writes the result.
    ///
    /// - Throws: `InvalidParams`, and what the handler throws.
    public let run: @Sendable (_ params: JSONNode?, _ call: any CallContext, _ writer: inout JSONWriter) throws -> Void

    init<M: ContractMethod>(_: M.Type, _ handler: @escaping @Sendable (M.Params, any CallContext) throws -> M.Result) {
        info = M.info
        run = { params, call, writer in try handler(M.Params(decoding: params), call).write(to: &writer) }
    }
}
