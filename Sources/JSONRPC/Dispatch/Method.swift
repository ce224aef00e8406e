import JSON

/// A method that can be called by name. It is a class so that all calls and threads share one instance.
public final class Method: Sendable {
    public typealias Body = @Sendable (_ call: Call, _ params: JSONNode?, _ result: inout JSONWriter) throws -> Void

    public let name: String
    /// Returns the lane on which a call with these params starts. Must be fast: it runs on the reading thread.
    public let lane: @Sendable (_ params: JSONNode?) -> Lane
    /// Runs the method and writes its result as one JSON value. If it writes nothing, the result is `null`. `params` is an object, or `nil`
    /// if omitted.
    ///
    /// A method that would have to wait on a lane that does not allow it ends with `Call.proceed`, and the rest of it runs on another lane.
    ///
    /// Throws a `ResponseError` to respond with that error, or `Cancelled` if it stopped because of `Call.isCancelled`. Any other
    /// error becomes an internal error.
    public let run: Body
    /// The conversion of the outcome for another protocol, or `nil` for plain JSON-RPC.
    let form: (any AnswerForm)?

    /// Creates a method whose lane depends on its params.
    public init(
        _ name: String, lane: @escaping @Sendable (_ params: JSONNode?) -> Lane, form: (any AnswerForm)? = nil, run: @escaping Body
    ) {
        self.name = name
        self.lane = lane
        self.form = form
        self.run = run
    }

    /// Creates a method that always runs on `lane`.
    public convenience init(_ name: String, on lane: Lane = .compute, run: @escaping Body) {
        self.init(name, lane: { _ in lane }, run: run)
    }
}

/// Finds methods by name.
public protocol MethodLookup: Sendable {
    func method(named name: String) -> Method?

    /// Returns a few existing method names that are similar to the unknown `name`, best match first.
    func nearest(to name: String) -> [String]

    /// Returns the error for an unknown method.
    func notFound(_ name: String) -> MethodNotFound
}

extension MethodLookup {
    public func notFound(_ name: String) -> MethodNotFound { MethodNotFound(name, nearest: nearest(to: name)) }
}
