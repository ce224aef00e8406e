import JSON

/// Processes requests within the process, on the calling thread. Used by commands that send a single request.
public struct Responder: Sendable {
    private let performer: MethodRunner

    public init(_ methods: any MethodLookup, observer: any CallObserver = NoObserver(), maximumAnswer: Int = 16 << 20) {
        performer = MethodRunner(methods: methods, observer: observer, maximumAnswer: maximumAnswer)
    }

    /// Processes one line, which is a request or a batch. Returns the response, or `nil` if none is required.
    public func answer(_ line: [UInt8]) -> [UInt8]? {
        var bench = WorkerState(number: 0)
        let messages: [Message]
        var isBatch = false
        switch line.withUnsafeBytes({ Incoming($0) }) {
        case .refused(let error):
            performer.refuse(id: nil, trace: nil, error, on: &bench)
            return bench.writer.bytes
        case .single(let message): messages = [message]
        case .batch(let members): (messages, isBatch) = (members, true)
        }
        let batch = Batch(members: messages.count, isArray: isBatch, load: .zero, maximumBytes: performer.maximumAnswer)
        var whole: [UInt8]?
        for message in messages {
            bench.clear()
            answer(message, bytesIn: line.count, room: batch.room, on: &bench)
            whole = batch.finish(bench.writer.bytes[...])
        }
        return whole.flatMap { $0.isEmpty ? nil : $0 }
    }

    private func answer(_ message: Message, bytesIn: Int, room: Int, on bench: inout WorkerState) {
        switch message {
        case .cancel, .ignored: break
        case .refused(let id, let trace, let error): performer.refuse(id: id, trace: trace, error, on: &bench)
        case .call(let envelope):
            guard let method = performer.methods.method(named: envelope.method) else {
                if let id = envelope.id { performer.refuse(id: id, trace: envelope.trace, performer.notFound(envelope), on: &bench) }
                return
            }
            // The calling thread may wait, whatever the method.
            let call = Call(envelope, method, lane: .store, arrival: Arrival(route: .line(.zero), bytesIn: bytesIn), outlet: NobodyElse())
            var body = method.run
            while case .proceeds(let rest) = performer.perform(call, body, on: &bench, room: room) { body = rest }
        }
    }

    /// The outlet of calls that cannot be canceled or resumed from other threads.
    private final class NobodyElse: AnswerOutlet {
        func answer(_ call: Call, _ error: any ResponseError) {}
        func send(_ message: inout JSONWriter) {}
        func sendIfRoom(_ message: inout JSONWriter) {}
        var letsCallsWait: Bool { false }
        var dialect: Dialect { .plain }
        func cancelRequests(_ id: JSONNode) {}
        func admitWaiting(_ call: Call) throws { throw TooManyRequests() }
        func blocking<R>(_ call: Call, _ body: () throws -> R) rethrows -> R { try body() }
        func resume(_ call: Call, on lane: Lane, _ body: @escaping Method.Body) {}
    }
}
