import JSON
import Platform

/// Runs methods and writes their answers. Knows neither lanes nor descriptors.
struct Performer: Sendable {
    let methods: any MethodLookup
    let observer: any CallObserver
    /// The longest answer that is sent, in bytes.
    let maximumAnswer: Int

    enum Outcome {
        /// The answer, if there is to be one, stands in the workbench.
        case done
        /// Someone else has answered meanwhile, or before: it was cancelled or cut off.
        case answeredElsewhere
        /// The call must be run again on this lane.
        case moves(Lane)
        /// The call is answered later by someone else.
        case waits
    }

    /// Runs `body` for `call` and appends the answer to the workbench.
    func perform(_ call: Call, _ body: Method.Body, on bench: inout Workbench, room: Int? = nil) -> Outcome {
        guard let run = call.begin() else { return .answeredElsewhere }
        let start = bench.writer.bytes.count
        let began = Monotonic.nanoseconds()
        let limit = room ?? maximumAnswer
        var failure: (any ResponseError)?
        do {
            if call.isCancelled { throw RequestCancelled() }
            try bench.writer.answer(call.envelope) { try body(call, call.envelope.params, &$0) }
            if call.isLeftForLater(by: run) {
                bench.writer.rewind(to: start)
                return .waits
            }
            if bench.writer.bytes.count - start > limit { failure = ResultTooLarge(limit: limit) }
        } catch let move as MoveToLane {
            bench.writer.rewind(to: start)
            call.queue(move)
            return .moves(move.lane)
        } catch let error as any ResponseError {
            failure = error
        } catch is CancellationError {
            failure = RequestCancelled()
        } catch {
            let internalError = InternalError()
            observer.failed(call, with: error, incident: internalError.incident)
            failure = internalError
        }
        guard call.claim() else {
            bench.writer.rewind(to: start)
            return .answeredElsewhere
        }
        if let failure {
            bench.writer.rewind(to: start)
            bench.writer.answer(id: call.envelope.id, trace: call.envelope.trace, error: failure)
        }
        if call.isNotification { bench.writer.rewind(to: start) }
        let report = CallReport(
            durationNanoseconds: Monotonic.nanoseconds() &- began, errorType: failure?.type, bytesIn: call.bytesIn,
            bytesOut: bench.writer.bytes.count - start, worker: bench.number)
        observer.ended(call, report)
        return .done
    }

    /// Appends the answer to what is no call.
    func refuse(id: JSONNode?, trace: JSONNode?, _ error: any ResponseError, on bench: inout Workbench) {
        observer.refused(error.type)
        bench.writer.answer(id: id, trace: trace, error: error)
    }

    func notFound(_ envelope: Envelope) -> MethodNotFound {
        MethodNotFound(envelope.method, nearest: methods.nearest(to: envelope.method))
    }
}
