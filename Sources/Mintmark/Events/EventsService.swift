import Accounts
import Contract
import ServiceContext
import SigningKeys
import Storage

/// Implements the methods `events.*`.
public struct EventsService: Sendable {
    let context: ServiceContext
    let tokens: EventTokens
    private let host: PipeHookHost
    let feed: EventFeed
    let bell: EventBell
    let sender: EventSender

    private static let batch = 500
    /// The maximum number of batches that one call of `events.list` reads in search of events of the given types.
    private static let batches = 20

    init(
        _ context: ServiceContext, _ signingKeys: SigningKeys, _ signIn: SignInService, host: PipeHookHost, configuration: Configuration
    ) {
        self.context = context
        tokens = EventTokens(context: context, signingKeys: signingKeys, signIn: signIn)
        self.host = host
        feed = EventFeed(context.driver, host: host.requests, writes: StoreWrites(of: configuration.store))
        bell = EventBell(context.driver, writes: StoreWrites(of: configuration.store))
        sender = EventSender(
            tokens, http: configuration.httpClient(context.faults),
            longestRequest: configuration.outgoing.maximumMilliseconds, bell: bell)
        // Commands that run once do not send: a receiver that does not respond must not delay them.
        if host.requests.isConnected { sender.wake() }
    }

    /// Starts to send events to the host of the process.
    ///
    /// - Throws: `EventsNeedHost`, `EventsExpired`, `EventCursorUnknown`.
    public func subscribe(_ request: EventsSubscribe.Params, _ call: any CallContext) throws -> EventsSubscribe.Result {
        guard host.requests.isConnected else { throw EventsNeedHost() }
        let range = try currentRange()
        let position = try request.after.map { try Self.position($0, in: range) } ?? range.last
        let begins = feed.begin(.init(types: request.types.map { Set($0) }, position: position, storeId: range.storeId))
        guard begins else { throw StoreError.failed(reason: "the thread that sends events cannot be started") }
        return EventsSubscribe.Result(cursor: String(position))
    }

    /// Stops to send events.
    public func unsubscribe(_ request: EventsUnsubscribe.Params, _ call: any CallContext) throws -> EventsUnsubscribe.Result {
        EventsUnsubscribe.Result(ended: feed.end())
    }

    /// Returns the events after a cursor.
    ///
    /// - Throws: `EventsExpired`, `EventCursorUnknown`.
    public func list(_ request: EventsList.Params, _ call: any CallContext) throws -> EventsList.Result {
        let range = try currentRange()
        let types = request.types.map { Set($0) }
        var position = try Self.position(request.after, in: range)
        var found: [SecurityEvent] = []
        for _ in 0..<Self.batches where found.count < request.limit && position < range.last {
            let events = try context.database.read { try $0.events(after: position, limit: Self.batch) }
            if events.isEmpty { position = range.last }
            for event in events where found.count < request.limit {
                position = event.position
                if let answer = event.answer, types?.contains(answer.type) ?? true { found.append(answer) }
            }
        }
        return EventsList.Result(events: found, cursor: String(position), hasMore: position < range.last)
    }

    /// Ends the subscription, the waiting calls and the deliveries.
    func close() {
        feed.close()
        sender.close()
        bell.close()
    }

    /// Returns the positions of all events that are committed now.
    private func currentRange() throws -> EventRange {
        try context.database.numberNewEvents()
        return try context.database.read { try $0.eventRange() }
    }

    /// Returns the position of a cursor.
    ///
    /// - Throws: `EventsExpired`, `EventCursorUnknown`.
    static func position(_ cursor: String, in range: EventRange) throws -> Int64 {
        let position = Int64(cursor) ?? 0
        // 0 requests all events that are left.
        if position > 0, position < range.removedUntil {
            throw EventsExpired(after: cursor, removedUntil: String(range.removedUntil))
        }
        if position > range.last { throw EventCursorUnknown(after: cursor, last: String(range.last)) }
        return position
    }
}

extension EventsService: EventsHandlers {}
