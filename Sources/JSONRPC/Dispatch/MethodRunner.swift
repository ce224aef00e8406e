import JSON
import Platform

/// Runs methods and writes their responses. Independent of lanes and file descriptors.
struct MethodRunner: Sendable {
    let methods: any MethodLookup
    let observer: any CallObserver
    /// The maximum length of a response, in bytes.
    let maximumAnswer: Int
    var dialect = Dialect.plain

    enum Outcome {
        /// The response, if one is required, is in the workbench.
        case done
        /// The response was sent elsewhere because the call was canceled or cut off.
        case answeredElsewhere
        /// The rest of the method must run on the lane of the call.
        case proceeds(Method.Body)
        /// The response is deferred.
        case waits
    }

    /// Runs `body` for `call` and appends the response to the workbench.
    func perform(_ call: Call, _ body: Method.Body, on bench: inout WorkerState, room: Int? = nil) -> Outcome {
        guard let run = call.begin() else { return .answeredElsewhere }
        defer { ProcessMemory.wipeStack() }
        let start = bench.writer.bytes.count
        let began = Monotonic.nanoseconds()
        let limit = room ?? maximumAnswer
        do {
            if call.isCancelled { throw RequestCancelled() }
            // No closure: the method is called from this frame.
            let resultStart = bench.writer.beginResult(call.envelope)
            try body(call, call.envelope.params, &bench.writer)
            if let rest = call.takeRest() {
                bench.writer.rewind(to: start)
                return .proceeds(rest)
            }
            if let form = call.calledMethod.form { Self.put(form, resultStart, call.envelope.params, writer: &bench.writer) }
            bench.writer.endResult(from: resultStart)
            if call.isLeftForLater(by: run) {
                bench.writer.rewind(to: start)
                return .waits
            }
            if bench.writer.bytes.count - start > limit { throw ResultTooLarge(limit: limit) }
            guard call.claim() else {
                bench.writer.rewind(to: start)
                return .answeredElsewhere
            }
            end(call, began, errorType: nil, from: start, on: &bench)
            return .done
        } catch {
            bench.writer.rewind(to: start)
            let failure = known(error, call)
            guard call.claim() else { return .answeredElsewhere }
            answer(call, failure, on: &bench)
            end(call, began, errorType: failure.type, from: start, on: &bench)
            return .done
        }
    }

    private static func put(_ form: any AnswerForm, _ start: Int, _ params: JSONNode?, writer: inout JSONWriter) {
        let result = Array(writer.bytes[start...])
        writer.rewind(to: start)
        form.write(result: result[...], for: params, to: &writer)
    }

    private func answer(_ call: Call, _ failure: any ResponseError, on bench: inout WorkerState) {
        if let form = call.calledMethod.form, form.isResult(failure, for: call.envelope.params) {
            let resultStart = bench.writer.beginResult(call.envelope)
            form.write(failure, for: call.envelope.params, to: &bench.writer)
            bench.writer.endResult(from: resultStart)
        } else if dialect.answers(failure) {
            bench.writer.answer(id: call.envelope.id, trace: call.envelope.trace, error: failure)
        }
    }

    /// Returns the error to send to the caller for an error thrown by the method.
    private func known(_ error: any Error, _ call: Call) -> any ResponseError {
        if let error = error as? any ResponseError { return error }
        if error is Cancelled { return RequestCancelled() }
        let internalError = InternalError()
        observer.failed(call, with: error, incident: internalError.incident)
        return internalError
    }

    private func end(_ call: Call, _ began: UInt64, errorType: String?, from start: Int, on bench: inout WorkerState) {
        if call.isNotification { bench.writer.rewind(to: start) }
        observer.ended(
            call,
            CallReport(
                durationNanoseconds: Monotonic.nanoseconds() &- began, errorType: errorType, bytesIn: call.arrival.bytesIn,
                bytesOut: bench.writer.bytes.count - start, worker: bench.number))
    }

    /// Appends the error response to a message that is not a call.
    func refuse(id: JSONNode?, trace: JSONNode?, _ error: any ResponseError, on bench: inout WorkerState) {
        observer.refused(error.type)
        bench.writer.answer(id: id, trace: trace, error: error)
    }

    func notFound(_ envelope: Envelope) -> MethodNotFound {
        methods.notFound(envelope.method)
    }
}
