import JSON
import Synchronization

/// The deferred response to a call that waits without blocking a thread. If this object is released without a response, the call fails with
/// an internal error.
public final class DeferredResponse: Sendable {
    private let call: Call
    private let outlet: any AnswerOutlet
    /// Whether the call has been resumed. It may not be running yet.
    private let isResumed = Atomic(false)

    init(of call: Call, through outlet: any AnswerOutlet) {
        self.call = call
        self.outlet = outlet
    }

    deinit {
        if !isResumed.load(ordering: .acquiring), call.currentState == .suspended { fail(InternalError()) }
    }

    /// Whether a response is still required: the call has neither a response nor a cancellation.
    public var isWanted: Bool { call.currentState != .answered }

    /// Resumes the call on `lane`: `body` writes the result or throws, as in `Method.run`. Returns immediately. Only the first call to
    /// `resume` or `fail` has an effect.
    public func resume(on lane: Lane = .compute, _ body: @escaping @Sendable (_ call: Call, _ result: inout JSONWriter) throws -> Void) {
        guard call.currentState == .suspended, !isResumed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        outlet.resume(call, on: lane) { call, _, result in try body(call, &result) }
    }

    /// Responds to the call with `error`.
    public func fail(_ error: any ResponseError) {
        guard call.claim() else { return }
        _ = call.takeOnCancel()
        outlet.answer(call, error)
    }
}
