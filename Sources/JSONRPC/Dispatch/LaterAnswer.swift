import JSON
import Synchronization

/// The answer to a call that waits for something and holds no thread meanwhile. If nobody gives it before it is let go,
/// the call is answered with an internal error.
public final class LaterAnswer: Sendable {
    private let call: Call
    private let outlet: any AnswerOutlet
    /// Whether the call goes on, though it may not have begun to run.
    private let isResumed = Atomic(false)

    init(of call: Call, through outlet: any AnswerOutlet) {
        self.call = call
        self.outlet = outlet
    }

    deinit {
        if !isResumed.load(ordering: .acquiring), call.currentState == .suspended { fail(InternalError()) }
    }

    /// Whether an answer is still wanted: the call is neither answered nor cancelled.
    public var isWanted: Bool { call.currentState != .answered }

    /// Goes on with the call on `lane`: `body` writes the result or throws, as `Method.run` does. Returns at once.
    /// Only the first of all `resume` and `fail` counts.
    public func resume(on lane: Lane = .compute, _ body: @escaping @Sendable (_ call: Call, _ result: inout JSONWriter) throws -> Void) {
        guard call.currentState == .suspended, !isResumed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        outlet.resume(call, on: lane) { call, _, result in try body(call, &result) }
    }

    /// Answers the call with `error`.
    public func fail(_ error: any ResponseError) {
        guard call.claim() else { return }
        _ = call.takeOnCancel()
        outlet.answer(call, error)
    }
}
