import JSON

/// One method that can be called by name. A class: every call takes one up, and all threads the same.
public final class Method: Sendable {
    public typealias Body = @Sendable (_ call: Call, _ params: JSONNode?, _ result: inout JSONWriter) throws -> Void

    public let name: String
    /// Where a call with these params starts. Cheap: it runs on the thread that reads.
    public let lane: @Sendable (_ params: JSONNode?) -> Lane
    /// Does the work and writes one JSON value, the result; nothing written is null. `params` is an object or nil when absent.
    ///
    /// Throws a `ResponseError` to be answered with, `MoveToLane`, or `CancellationError` when it gave up because of
    /// `Call.isCancelled`. Anything else is answered as an internal error.
    public let run: Body
    /// How the outcome is put, nil: as it is.
    let form: (any AnswerForm)?

    /// A method whose lane depends on its params.
    public init(
        _ name: String, lane: @escaping @Sendable (_ params: JSONNode?) -> Lane, form: (any AnswerForm)? = nil, run: @escaping Body
    ) {
        self.name = name
        self.lane = lane
        self.form = form
        self.run = run
    }

    /// A method that always runs on `lane`.
    public convenience init(_ name: String, on lane: Lane = .compute, run: @escaping Body) {
        self.init(name, lane: { _ in lane }, run: run)
    }
}

/// Finds methods by their names.
public protocol MethodLookup: Sendable {
    func method(named name: String) -> Method?

    /// Names of methods that the writer of the unknown `name` may have meant, best first, a few at most.
    func nearest(to name: String) -> [String]
}
