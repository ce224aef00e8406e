import Contract
import Crypto
import Network
import Platform
import ServiceContext
import Storage

/// Pushes Security Event Tokens to their receivers (RFC 8935), on threads of its own, in processes that serve a host.
///
/// A stream has one sender among all processes of the store, and one request at a time: its tokens arrive in their order. The position of
/// the stream moves after the receiver has accepted a token, so a token is repeated if the process ends before.
final class EventSender: Sendable {
    private struct State {
        var isRunning = false
        var isClosing = false
        /// Counts the calls of `wake`.
        var wakes = 0
        /// The streams to which a thread sends now.
        var busy: Set<String> = []
        /// The position of the last event that the thread has looked at.
        var last: Int64 = -1
    }

    /// The maximum number of receivers to which tokens are sent at the same time.
    private static let maximumThreads = 8
    private static let eventsInARow = 100
    private static let attemptsToStore = 3
    private static let pauseNanoseconds: UInt64 = 1_000_000_000

    private let tokens: EventTokens
    private let http: any HTTPClient
    private let bell: EventBell
    /// The time for which a process is the sender of a stream without storing an outcome. Longer than a request can take.
    private let senderSeconds: Int64
    /// The name of this process as a sender.
    private let name = SystemRandom().uuid()
    private let state = ConditionLock(State())

    /// - Parameter longestRequest: The time limit of all requests, in milliseconds.
    init(_ tokens: EventTokens, http: any HTTPClient, longestRequest: Int, bell: EventBell) {
        senderSeconds = Int64(min(longestRequest, EventPushRequest.timeoutMilliseconds)) / 500 + 1
        self.tokens = tokens
        self.http = http
        self.bell = bell
    }

    private var context: ServiceContext { tokens.context }

    /// Looks for tokens to send now, and begins to watch the store if streams push.
    func wake() {
        let mustStart = state.withLock { state in
            state.wakes += 1
            guard !state.isRunning, !state.isClosing else { return false }
            state.isRunning = true
            return true
        }
        state.broadcast()
        guard mustStart, !Thread.start(name: "event sender", { self.run() }) else { return }
        state.withLock { $0.isRunning = false }
    }

    /// Ends the threads after their current requests, and waits at most five seconds for them.
    func close() {
        state.withLock { $0.isClosing = true }
        state.broadcast()
        _ = state.wait(deadline: Monotonic.nanoseconds() + 5_000_000_000) { $0.isRunning || !$0.busy.isEmpty ? nil : () }
    }

    private var isClosing: Bool { state.withLock { $0.isClosing } }

    // MARK: The thread that watches

    private func run() {
        while true {
            let wakes = state.withLock { $0.wakes }
            let hasReceivers = (try? startDue()) ?? true
            let goesOn = state.withLock { state in
                state.isRunning = !state.isClosing && (hasReceivers || state.wakes != wakes)
                return state.isRunning
            }
            guard goesOn else { break }
            pause(after: wakes)
        }
        state.broadcast()
    }

    /// Waits for a new event, for `wake`, or for a second.
    private func pause(after wakes: Int) {
        let deadline = Monotonic.nanoseconds() + Self.pauseNanoseconds
        guard let ticket = bell.ticket() else { return }
        bell.add(ticket, after: state.withLock { $0.last }, until: deadline) { [weak self] in
            self?.state.withLock { $0.wakes += 1 }
            self?.state.broadcast()
        }
        _ = state.wait(deadline: deadline) { $0.wakes != wakes || $0.isClosing ? () : nil }
        bell.remove(ticket)
    }

    /// Starts a thread for each stream that has a token to send.
    ///
    /// - Returns: Whether any stream pushes.
    private func startDue() throws -> Bool {
        try context.driver.numberNewEvents()
        let (now, busy) = (context.clock.now, state.withLock { $0.busy })
        let (due, hasReceivers, last) = try context.driver.read { tx in
            let streams = try tx.eventStreams().filter { $0.receiver != nil }
            let due = try streams.filter { stream in
                guard stream.isDue(at: now), !busy.contains(stream.id) else { return false }
                let next = try tokens.next(of: stream, limit: 1, in: tx)
                return !next.events.isEmpty || next.hasMore
            }
            return (due, !streams.isEmpty, try tx.eventRange().last)
        }
        state.withLock { $0.last = last }
        // Receivers that work come first, so that those that do not respond do not occupy all threads.
        for stream in due.sorted(by: { $0.delivery.failures < $1.delivery.failures }) {
            let isFree = state.withLock { $0.busy.count < Self.maximumThreads && $0.busy.insert(stream.id).inserted }
            guard isFree else { continue }
            if !Thread.start(name: "event push", { self.send(stream.id) }) { rest(stream.id) }
        }
        return hasReceivers
    }

    private func rest(_ streamId: String) {
        state.withLock { state in
            state.busy.remove(streamId)
            state.wakes += 1
        }
        state.broadcast()
    }

    // MARK: The threads that send

    /// The token to send next.
    private struct Turn {
        let stream: EventStreamRecord
        let event: SecurityEventRecord
    }

    /// Sends tokens of a stream until none is left, or until one is not accepted.
    private func send(_ streamId: String) {
        defer { rest(streamId) }
        var outcome: (Turn, EventPushOutcome)?
        for _ in 0..<Self.eventsInARow where !isClosing {
            do {
                guard let turn = try next(of: streamId, after: outcome) else { return }
                outcome = (turn, push(turn))
            } catch { break }
        }
        // The outcome of the last request. An outcome that is lost because the store was busy would repeat the token.
        guard let outcome else { return }
        for _ in 0..<Self.attemptsToStore {
            if (try? finish(streamId, outcome)) != nil { return }
        }
    }

    /// Stores the outcome of the last request, and returns the next token, or `nil` if there is none at present.
    private func next(of streamId: String, after outcome: (Turn, EventPushOutcome)?) throws -> Turn? {
        let now = context.clock.now
        return try context.driver.write { tx in
            try tx.lock(["event stream \(streamId)"])
            if let outcome { try store(outcome, at: now, in: tx) }
            guard let stream = try tx.eventStream(streamId), stream.receiver != nil, stream.isDue(at: now) else {
                try tx.endSending(streamId, as: name)
                return nil
            }
            let due = try tokens.next(of: stream, limit: 1, in: tx)
            if due.position > stream.position { try tx.move(stream, to: due.position) }
            guard let event = due.events.first else {
                try tx.endSending(streamId, as: name)
                return nil
            }
            // Read while no other process can begin: a time from before the wait for the lock could be earlier than that of the sender.
            let real = SystemClock().now
            guard try tx.beginSending(streamId, as: name, at: real, until: real + senderSeconds) else { return nil }
            return Turn(stream: stream, event: event)
        }
    }

    private func finish(_ streamId: String, _ outcome: (Turn, EventPushOutcome)) throws {
        let now = context.clock.now
        try context.driver.write { tx in
            try tx.lock(["event stream \(streamId)"])
            try store(outcome, at: now, in: tx)
            try tx.endSending(streamId, as: name)
        }
    }

    private func store(_ sent: (turn: Turn, outcome: EventPushOutcome), at now: Int64, in tx: Transaction) throws {
        let turn = sent.turn
        // The stream may have been changed, paused or deleted during the request.
        guard var stream = try tx.eventStream(turn.stream.id), stream.createdAt == turn.stream.createdAt,
            stream.receiver?.url == turn.stream.receiver?.url
        else { return }
        switch sent.outcome {
        case .accepted, .refused:
            if case .refused(let err, let description) = sent.outcome {
                var record = AuditEvent(method: EventsPutStream.info.name, poolId: stream.owner.poolId, subject: stream.id)
                record.details["tenantId"] = stream.owner.tenantId.map { .string($0) }
                record.details["eventId"] = .string(turn.event.id)
                record.details["err"] = .string(err)
                record.details["description"] = description.map { .string($0) }
                try context.audit.record(record, at: now, in: tx)
            }
            if turn.event.position > stream.position { try tx.move(stream, to: turn.event.position) }
            guard stream.delivery.failures > 0 else { return }
            stream.delivery = .init()
            try tx.setDelivery(of: stream)
        case .failed(let failure):
            stream.delivery.note(failure, at: now)
            try tx.setDelivery(of: stream)
            guard failure.isFinal || stream.delivery.isHopeless(at: now) else { return }
            (stream.status, stream.statusReason) = (.paused, failure.pauseReason)
            try tx.setStatus(of: stream)
        }
    }

    private func push(_ turn: Turn) -> EventPushOutcome {
        do {
            guard let receiver = turn.stream.receiver,
                let token = try tokens.sign([turn.event], of: turn.stream, at: context.clock.now).first?.token
            else { return .accepted }
            let authorization = try receiver.sealedAuthorization.map { try EventAuthorization.open($0, of: turn.stream.id, context.vault) }
            return EventPushOutcome(of: EventPushRequest(receiver, token, authorization: authorization).send(with: http))
        } catch { return .failed(.init("The token cannot be signed: \(error)")) }
    }
}

extension EventStreamRecord {
    /// Returns whether the stream sends at this time.
    fileprivate func isDue(at now: Int64) -> Bool { status == .enabled && delivery.nextAttemptAt <= now }
}
