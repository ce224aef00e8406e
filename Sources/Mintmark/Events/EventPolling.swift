import Contract
import Platform
import ServiceContext
import Storage

/// The delivery of Security Event Tokens to receivers that ask for them (RFC 8936).
extension EventsService {
    /// The maximum number of calls that wait in a process.
    private static let maximumWaiting = 100

    /// Acknowledges tokens and returns the next ones.
    ///
    /// - Throws: `EventStreamNotFound`, `EventStreamPushes`, `TooManyEventPolls`, `TenantNotFound`, `PoolNotFound`.
    public func poll(_ request: EventsPoll.Params, _ call: any CallContext) throws -> EventsPoll.Result {
        try pollInPhases(request, call).value(for: call)
    }

    /// As `poll`. Waits without a thread.
    func pollInPhases(_ request: EventsPoll.Params, _ call: any CallContext) throws -> Phase<EventsPoll.Result> {
        let deadline = Monotonic.nanoseconds() + UInt64(request.timeoutSeconds) * 1_000_000_000
        let (answer, last) = try look(request, call)
        guard !request.returnImmediately, request.maxEvents > 0 else { return .done(answer) }
        var rest = request
        (rest.ack, rest.setErrs) = ([], nil)
        return try waiting(answer, rest, after: last, until: deadline)
    }

    /// Returns the answer, or waits until the stream has a token.
    private func waiting(
        _ answer: EventsPoll.Result, _ request: EventsPoll.Params, after last: Int64, until deadline: UInt64
    ) throws -> Phase<EventsPoll.Result> {
        guard answer.sets.isEmpty, Monotonic.nanoseconds() < deadline else { return .done(answer) }
        guard let ticket = bell.ticket(limit: Self.maximumWaiting) else { throw TooManyEventPolls(maximum: Int64(Self.maximumWaiting)) }
        let bell = bell
        let event = AwaitedEvent(
            giveUp: { bell.remove(ticket) }, whenOver: { ring in bell.add(ticket, after: last, until: deadline, ring) })
        return .next(.event(event)) { call in
            let (answer, last) = try look(request, call)
            return try waiting(answer, request, after: last, until: deadline)
        }
    }

    /// Returns the next tokens, and the position of the last event that was looked at.
    private func look(_ request: EventsPoll.Params, _ call: any CallContext) throws -> (EventsPoll.Result, last: Int64) {
        let now = context.clock.now
        try context.database.numberNewEvents()
        let isKnown = try context.database.read { try $0.eventStream(request.streamId) != nil }
        guard isKnown else { throw EventStreamNotFound(streamId: request.streamId) }
        let (stream, due, last) = try context.database.write { tx in
            try tx.lock(["event stream \(request.streamId)"])
            guard let stream = try tx.eventStream(request.streamId) else { throw EventStreamNotFound(streamId: request.streamId) }
            guard stream.receiver == nil else { throw EventStreamPushes(streamId: stream.id) }
            for id in request.ack { _ = try tx.acknowledge(id, of: stream) }
            for refused in request.setErrs ?? [:] where try tx.acknowledge(refused.name, of: stream) {
                var event = event(of: stream, EventsPoll.info.name, call)
                event.details["eventId"] = .string(refused.name)
                event.details["err"] = .string(refused.value.err)
                event.details["description"] = refused.value.description.map { .string($0) }
                try context.audit.record(event, at: now, in: tx)
            }
            let last = try tx.eventRange().last
            let due = try tokens.next(of: stream, limit: Int(request.maxEvents), in: tx)
            if due.position > stream.position { try tx.move(stream, to: due.position) }
            return (stream, due, last)
        }
        guard stream.status == .enabled else { return (EventsPoll.Result(sets: [:], moreAvailable: false), last) }
        guard !due.events.isEmpty else { return (EventsPoll.Result(sets: [:], moreAvailable: due.hasMore), last) }
        let sets = try tokens.sign(due.events, of: stream, at: now)
        return (EventsPoll.Result(sets: Members(sets.map { ($0.id, $0.token) }), moreAvailable: due.hasMore), last)
    }
}
