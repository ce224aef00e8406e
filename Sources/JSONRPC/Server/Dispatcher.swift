import JSON
import Platform

/// Routes requests to the lanes on which they run, and responses to the outbox.
final class Dispatcher: AnswerOutlet {
    /// The parts of a server that its dispatcher uses.
    struct Parts {
        let performer: MethodRunner
        let flow: FlowControl
        let outbox: Outbox
        let lanes: Lanes
        /// The options of the server: framing, tap, order, the maximum number of waiting calls, and the wrapper of sequences of calls.
        let options: ServerOptions
    }

    let performer: MethodRunner
    let flow: FlowControl
    let outbox: Outbox
    let openWork = InFlightRequests()
    private let lanes: Lanes
    private let framing: Framing
    private let tap: (any MessageTap)?
    private let isSequential: Bool
    private let mostWaiting: Int
    private let together: ServerOptions.Together
    private let onIdle: @Sendable () -> Void

    /// - Parameter onIdle: Called when every request has its response.
    init(_ parts: Parts, onIdle: @escaping @Sendable () -> Void) {
        performer = parts.performer
        flow = parts.flow
        outbox = parts.outbox
        lanes = parts.lanes
        framing = parts.options.framing
        tap = parts.options.tap
        isSequential = parts.options.sequential
        mostWaiting = parts.options.maximumWaiting
        together = parts.options.together
        self.onIdle = onIdle
    }

    /// The calls that a thread has finished but not yet reported.
    struct Finished {
        var load = Load.zero
    }

    // MARK: Lines

    /// Handles a single line on the reading thread. Slow calls move to another lane.
    func handleAlone(_ line: UnsafeRawBufferPointer, _ load: Load, on bench: inout WorkerState) {
        flow.admit(load)
        var finished = Finished()
        handle(line, load, in: nil, on: &bench, &finished)
        flush(&bench, &finished)
    }

    /// Sends an error response for a line that exceeds the maximum length.
    func refuseTooLong(_ limit: Int, on bench: inout WorkerState) {
        let what = framing == .lines ? "line" : "message"
        refuse(InvalidRequest("the \(what) is longer than \(limit) bytes and was skipped; --max-line sets the limit"), on: &bench)
    }

    /// Sends an error response for input that is not a message.
    func refuse(_ error: any ResponseError, on bench: inout WorkerState) {
        let start = bench.writer.bytes.count
        performer.refuse(id: nil, trace: nil, error, on: &bench)
        seal(&bench.writer.bytes, from: start)
        outbox.send(bench.writer.bytes)
        bench.clear()
    }

    /// Assigns pipelined lines to a compute worker.
    func submit(_ chunk: LineBatch) {
        flow.admit(chunk.load, unread: chunk.lines.count)
        openWork.add(chunk)
        lanes.submit(to: .compute) { bench in
            self.work(on: chunk, &bench)
        } orElse: {
            // If no thread is available, the submitting thread runs the chunk.
            var bench = WorkerState(number: 0)
            self.work(on: chunk, &bench)
        }
    }

    /// The period for which a worker collects responses before it sends them.
    private static let gatheringNanoseconds: UInt64 = 2_000_000

    private func work(on chunk: LineBatch, _ bench: inout WorkerState) {
        var finished = Finished()
        var hasMore = true
        while hasMore {
            together { shared in
                bench.shared = isSequential ? nil : shared
                defer { bench.shared = nil }
                let began = Monotonic.nanoseconds()
                repeat {
                    hasMore = handleNext(of: chunk, on: &bench, &finished)
                } while hasMore && Monotonic.nanoseconds() &- began < Self.gatheringNanoseconds
            }
            if !hasMore { openWork.remove(chunk) }
            flush(&bench, &finished)
        }
    }

    private func handleNext(of chunk: LineBatch, on bench: inout WorkerState, _ finished: inout Finished) -> Bool {
        guard let index = chunk.nextLine() else { return false }
        chunk.withLine(index) { line in
            let load = Load(line: line)
            flow.takeUpLine()
            handle(line, load, in: chunk, on: &bench, &finished)
        }
        return true
    }

    private func flush(_ bench: inout WorkerState, _ finished: inout Finished) {
        flow.noteAnswers(to: finished.load)
        outbox.send(bench.writer.bytes)
        bench.clear()
        if finished.load.requests > 0 { release(finished.load) }
        finished = Finished()
        flow.waitToAnswer()
    }

    private func release(_ load: Load) {
        if flow.release(load) { onIdle() }
    }

    private func handle(
        _ line: UnsafeRawBufferPointer, _ load: Load, in chunk: LineBatch?, on bench: inout WorkerState, _ finished: inout Finished
    ) {
        switch Incoming(line) {
        case .single(let message):
            let arrival = Arrival(route: .line(load), bytesIn: line.count, shared: bench.shared)
            handle(message, arrival, in: chunk, on: &bench, &finished)
        case .refused(let error):
            let start = bench.writer.bytes.count
            performer.refuse(id: nil, trace: nil, error, on: &bench)
            conclude(.line(load), from: start, on: &bench, &finished)
        case .batch where !dialect.takesBatches:
            let start = bench.writer.bytes.count
            performer.refuse(id: nil, trace: nil, InvalidRequest("batches are not supported here; send one message at a time"), on: &bench)
            conclude(.line(load), from: start, on: &bench, &finished)
        case .batch(let messages):
            let batch = Batch(members: messages.count, isArray: true, load: load, maximumBytes: performer.maximumAnswer)
            let arrival = Arrival(route: .batch(batch), bytesIn: line.count, shared: bench.shared)
            for message in messages { handle(message, arrival, in: chunk, on: &bench, &finished) }
        }
    }

    private func handle(
        _ message: Message, _ arrival: Arrival, in chunk: LineBatch?, on bench: inout WorkerState, _ finished: inout Finished
    ) {
        let start = bench.writer.bytes.count
        switch message {
        case .call(let envelope):
            guard let method = performer.methods.method(named: envelope.method) else {
                if let id = envelope.id { performer.refuse(id: id, trace: envelope.trace, performer.notFound(envelope), on: &bench) }
                return conclude(arrival.route, from: start, on: &bench, &finished)
            }
            let call = Call(envelope, method, lane: method.lane(envelope.params), arrival: arrival, outlet: self)
            guard call.lane == .compute || isSequential && chunk != nil else { return leave(call, call.body, chunk) }
            chunk?.enter(call)
            perform(call, call.body, in: chunk, on: &bench, &finished)
        case .cancel(let id):
            openWork.cancel(id)
            conclude(arrival.route, from: start, on: &bench, &finished)
        case .ignored: conclude(arrival.route, from: start, on: &bench, &finished)
        case .refused(let id, let trace, let error):
            performer.refuse(id: id, trace: trace, error, on: &bench)
            conclude(arrival.route, from: start, on: &bench, &finished)
        }
    }

    // MARK: Calls

    private func perform(_ call: Call, _ body: Method.Body, in chunk: LineBatch?, on bench: inout WorkerState, _ finished: inout Finished) {
        var body = body
        while true {
            let start = bench.writer.bytes.count
            var room: Int?
            if case .batch(let batch) = call.arrival.route { room = batch.room }
            switch performer.perform(call, body, on: &bench, room: room) {
            case .done: return conclude(call.arrival.route, from: start, on: &bench, &finished)
            case .answeredElsewhere: return
            case .waits: return
            case .proceeds(let rest):
                body = rest
                if isSequential, chunk != nil { continue }
                return leave(call, rest, chunk)
            }
        }
    }

    /// Moves a call to its lane. The call is then tracked in `openWork` instead of its chunk.
    private func leave(_ call: Call, _ body: @escaping Method.Body, _ chunk: LineBatch?) {
        openWork.add(call)
        if let chunk, chunk.hasCancelled(call) { call.cancel() }
        submit(call, to: call.lane, body)
    }

    private func submit(_ call: Call, to lane: Lane, _ body: @escaping Method.Body) {
        lanes.submit(to: lane) { bench in
            var finished = Finished()
            self.perform(call, body, in: nil, on: &bench, &finished)
            if call.currentState == .answered { self.openWork.remove(call) }
            self.flush(&bench, &finished)
        } orElse: {
            guard call.claim() else { return }
            _ = call.takeOnCancel()
            self.performer.observer.refused(TooManyRequests().type)
            self.answer(call, TooManyRequests())
        }
    }

    // MARK: Responses

    /// Sends the output written since `start`. The output is empty if no response is required.
    private func conclude(_ route: AnswerRoute, from start: Int, on bench: inout WorkerState, _ finished: inout Finished) {
        switch route {
        case .line(let load):
            if bench.writer.bytes.count > start { seal(&bench.writer.bytes, from: start) }
            finished.load = finished.load + load
        case .batch(let batch), .caller(let batch):
            let whole = batch.finish(bench.writer.bytes[start...])
            bench.writer.rewind(to: start)
            guard let whole else { return }
            if !whole.isEmpty {
                bench.writer.raw(whole)
                bench.writer.beginText()
                seal(&bench.writer.bytes, from: start)
            }
            finished.load = finished.load + batch.load
        }
    }

    /// Completes the frame of an outgoing message.
    private func seal(_ bytes: inout [UInt8], from start: Int) {
        if let tap { bytes[start...].withUnsafeBytes { tap.sent($0) } }
        framing.seal(&bytes, from: start)
    }

    func answer(_ call: Call, _ error: any ResponseError) {
        var bench = WorkerState(number: 0)
        var finished = Finished()
        if let id = call.envelope.id, dialect.answers(error) { bench.writer.answer(id: id, trace: call.envelope.trace, error: error) }
        conclude(call.arrival.route, from: 0, on: &bench, &finished)
        openWork.remove(call)
        flow.noteAnswers(to: finished.load)
        outbox.send(bench.writer.bytes)
        if finished.load.requests > 0 { release(finished.load) }
    }

    func sendIfRoom(_ message: inout JSONWriter) {
        if flow.mayAnswer { send(&message) }
    }

    func send(_ message: inout JSONWriter) {
        seal(&message.bytes, from: 0)
        outbox.send(message.bytes)
    }

    var letsCallsWait: Bool { !isSequential }
    var dialect: Dialect { performer.dialect }

    func cancelRequests(_ id: JSONNode) { openWork.cancel(id) }

    func admitWaiting(_ call: Call) throws {
        guard letsCallsWait, openWork.addWaiting(call, limit: mostWaiting) else { throw TooManyRequests() }
    }

    func resume(_ call: Call, on lane: Lane, _ body: @escaping Method.Body) {
        call.resumes(on: lane)
        submit(call, to: lane, body)
    }

    func blocking<R>(_ call: Call, _ body: () throws -> R) rethrows -> R {
        // The single thread of sequential mode must not be overtaken.
        isSequential ? try body() : try lanes.blocking(call.lane, body)
    }

    /// The connection over which the process sends requests to its host. It retains the dispatcher until the server disconnects it: every
    /// call retains the dispatcher, and that takes longer for an object with weak references.
    var hostConnection: HostRequests.Connection {
        HostRequests.Connection(
            send: { message in self.send(&message) },
            sendIfRoom: { message in
                guard self.flow.mayAnswer else { return false }
                self.send(&message)
                return true
            },
            wait: { begins in
                self.lanes.lend(begins)
                self.flow.waitForHost(begins)
            })
    }

    // MARK: Shutdown

    /// Ends the calls that wait for users, because the input has ended.
    func endWaits() {
        let (chunks, calls) = openWork.all
        for call in calls + chunks.compactMap(\.runningCall) where call.claimWaiting() {
            answer(call, ShuttingDown())
            call.takeOnCancel()?()
        }
    }

    /// Responds with `shuttingDown` to all requests that have not started or not completed.
    func cutOff() {
        let (chunks, calls) = openWork.all
        for chunk in chunks {
            let (running, rest) = chunk.cutOff()
            if let running, running.claim() { answer(running, ShuttingDown()) }
            for index in rest { chunk.withLine(index) { refuse($0, unread: 1) } }
        }
        for call in calls where call.claim() {
            call.takeOnCancel()?()
            answer(call, ShuttingDown())
        }
    }

    /// Responds with `shuttingDown` to every request of a line.
    func refuse(_ line: UnsafeRawBufferPointer, unread: Int) {
        var writer = JSONWriter()
        var messages: [Message] = []
        switch Incoming(line) {
        case .single(let message): messages = [message]
        case .batch(let members): messages = members
        case .refused: break
        }
        for message in messages {
            guard case .call(let envelope) = message, let id = envelope.id else { continue }
            let start = writer.bytes.count
            writer.answer(id: id, trace: envelope.trace, error: ShuttingDown())
            seal(&writer.bytes, from: start)
        }
        flow.noteAnswers(to: Load(line: line))
        outbox.send(writer.bytes)
        flow.release(Load(line: line), unread: unread)
    }
}
