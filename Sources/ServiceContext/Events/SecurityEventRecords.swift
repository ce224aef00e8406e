import Contract
import JSON
import Storage

/// The table of events.
///
/// A change stores its events in its own transaction, without a position. Positions are assigned afterwards, one transaction at a time and
/// only to committed events: an event that is committed later always gets a higher position. A reader that continues after a position
/// therefore misses nothing.
package enum SecurityEventTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE security_event (
            id TEXT PRIMARY KEY, at BIGINT NOT NULL, type TEXT NOT NULL, content TEXT NOT NULL, position BIGINT)
        """,
        "CREATE UNIQUE INDEX security_event_position ON security_event (position) WHERE position IS NOT NULL",
        "CREATE INDEX security_event_new ON security_event (at, id) WHERE position IS NULL",
    ]
}

/// The positions between which a store has events.
package struct EventRange: Sendable {
    /// The position of the last event that was removed, or 0.
    package let removedUntil: Int64
    /// The position of the last event, or 0.
    package let last: Int64
    /// The ID of the store, which a testing store changes when it is emptied or restored. Its positions then begin again after `start`.
    package let storeId: String?
    package let start: Int64
}

extension Transaction {
    private static let lastFact = "events.last"
    private static let removedFact = "events.removed"
    private static let startFact = "events.start"

    /// Stores an event, in the transaction of the change.
    package func insert(_ event: SecurityEventDraft, at now: Int64) throws {
        try execute(
            "INSERT INTO security_event (id, at, type, content) VALUES ($1, $2, $3, $4)", SecurityEventDraft.newId(at: now), now,
            event.type.rawValue, JSONValue.object(event.members).text)
    }

    /// Returns whether there are events without a position.
    package func hasNewEvents() throws -> Bool {
        try queryOne("SELECT 1 FROM security_event WHERE position IS NULL LIMIT 1") { _ in true } ?? false
    }

    /// Assigns positions to the committed events that have none.
    ///
    /// - Returns: The number of these events. If it is `limit`, there can be more.
    @discardableResult
    package func numberEvents(limit: Int = 500) throws -> Int {
        // Taken before the first read: PostgreSQL then reads what the previous holder has committed.
        try lock(["events"])
        let new = try query("SELECT id FROM security_event WHERE position IS NULL ORDER BY at, id LIMIT $1", limit) { $0.string(0) }
        guard !new.isEmpty else { return 0 }
        var position = try eventRange().last
        for id in new {
            position += 1
            try execute("UPDATE security_event SET position = $2 WHERE id = $1", id, position)
        }
        try setStoreFact(Self.lastFact, String(position))
        return new.count
    }

    package func eventRange() throws -> EventRange {
        EventRange(
            removedUntil: try storeFact(Self.removedFact).flatMap { Int64($0) } ?? 0,
            last: try storeFact(Self.lastFact).flatMap { Int64($0) } ?? 0,
            storeId: try storeFact("id"),
            start: try storeFact(Self.startFact).flatMap { Int64($0) } ?? 0)
    }

    /// Makes the position of the last event the one after which subscriptions continue. For a testing store that was restored.
    package func beginEvents() throws { try setStoreFact(Self.startFact, try storeFact(Self.lastFact)) }

    /// Returns up to `limit` events after a position, in their order.
    package func events(after position: Int64, limit: Int) throws -> [SecurityEventRecord] {
        try query(
            """
            SELECT position, id, at, type, content FROM security_event WHERE position > $1 ORDER BY position LIMIT $2
            """, position, limit
        ) {
            SecurityEventRecord(
                position: $0.int(0), id: $0.string(1), at: $0.int(2), type: $0.string(3),
                members: (try? JSONValue(parsing: $0.string(4)))?.object ?? [:])
        }
    }

    /// Removes up to `limit` events from before a time, and returns their number. Events without a position get one first, so that a reader
    /// that continues before them learns of their removal.
    fileprivate func removeEvents(before time: Int64, limit: Int) throws -> Int {
        try numberEvents()
        let oldest = try query(
            "SELECT position, at FROM security_event WHERE position IS NOT NULL ORDER BY position LIMIT $1", limit
        ) { (position: $0.int(0), at: $0.int(1)) }
        let old = oldest.prefix { $0.at < time }.map(\.position)
        guard let last = old.last else { return 0 }
        try setStoreFact(Self.removedFact, String(max(last, try eventRange().removedUntil)))
        return try execute("DELETE FROM security_event WHERE position <= $1", last)
    }
}

extension ExpiryJob {
    /// The time for which events are kept, in seconds.
    package static let eventSeconds: Int64 = 7 * 86_400

    /// Removes old events.
    package static let events = ExpiryJob(
        name: "events",
        hasWork: { tx, now in
            let time = now - eventSeconds
            let isNewOld = try tx.queryOne("SELECT 1 FROM security_event WHERE position IS NULL AND at < $1 LIMIT 1", time) { _ in true }
            if isNewOld != nil { return true }
            let oldest = try tx.queryOne("SELECT at FROM security_event WHERE position IS NOT NULL ORDER BY position LIMIT 1") { $0.int(0) }
            return oldest.map { $0 < time } ?? false
        },
        remove: { tx, now, limit in try tx.removeEvents(before: now - eventSeconds, limit: limit) })
}

/// A stored event with its position.
package struct SecurityEventRecord: Sendable {
    package let position: Int64
    package let id: String
    package let at: Int64
    package let type: String
    package let members: JSONObject

    /// The event as methods return it, or `nil` if its type is not known to this version.
    package var answer: SecurityEvent? {
        guard let type = EventType(rawValue: type) else { return nil }
        func text(_ name: String) -> String? { members[name]?.string }
        func list(_ name: String) -> [String]? { members[name]?.array?.compactMap(\.string) }
        return SecurityEvent(
            cursor: String(position), eventId: id, type: type, occurredAt: at, method: text("method"), tenantId: text("tenantId"),
            accountId: text("accountId"), sessionId: text("sessionId"), poolId: text("poolId"), identityId: text("identityId"),
            kid: text("kid"), providers: list("providers"), absorbed: list("absorbed"), subject: text("subject"),
            issuedBefore: members["issuedBefore"]?.int, lockedUntil: members["lockedUntil"]?.int)
    }
}
