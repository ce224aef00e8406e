import Contract
import JSON
import Storage

/// The tables of event streams. A stream has a position, up to which its receiver has acknowledged all events, and the acknowledged events
/// after it.
package enum EventStreamTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE event_stream (
            id TEXT PRIMARY KEY, owner TEXT NOT NULL, audience TEXT NOT NULL, types TEXT NOT NULL, position BIGINT NOT NULL,
            created_at BIGINT NOT NULL)
        """,
        """
        CREATE TABLE event_stream_ack (
            stream_id TEXT NOT NULL REFERENCES event_stream (id) ON DELETE CASCADE, position BIGINT NOT NULL,
            PRIMARY KEY (stream_id, position))
        """,
    ]
}

/// A stream of events for one receiver.
package struct EventStreamRecord: Sendable {
    package let id: String
    package let owner: KeyOwner
    package var audience: String
    /// The types of the events; empty for all.
    package var types: [EventType]
    package var position: Int64
    package let createdAt: Int64

    package init(id: String, owner: KeyOwner, audience: String, types: [EventType], position: Int64, createdAt: Int64) {
        (self.id, self.owner, self.audience, self.types) = (id, owner, audience, types)
        (self.position, self.createdAt) = (position, createdAt)
    }

    /// Returns whether the stream has this event.
    package func has(_ event: SecurityEventRecord) -> Bool {
        let member = owner.tenantId == nil ? "poolId" : "tenantId"
        guard let type = EventType(rawValue: event.type), event.members[member]?.string == owner.tenantId ?? owner.poolId else {
            return false
        }
        return types.isEmpty || types.contains(type)
    }

    package func answer(in realm: Deployment) -> EventStream {
        EventStream(
            streamId: id, tenantId: owner.tenantId, poolId: owner.poolId, issuer: realm.issuer(of: owner), audience: audience,
            types: types.isEmpty ? nil : types, createdAt: createdAt)
    }
}

extension Transaction {
    package func eventStreams() throws -> [EventStreamRecord] {
        try query("SELECT id, owner, audience, types, position, created_at FROM event_stream ORDER BY id", row: Self.stream).compactMap {
            $0
        }
    }

    package func eventStream(_ id: String) throws -> EventStreamRecord? {
        try queryOne(
            "SELECT id, owner, audience, types, position, created_at FROM event_stream WHERE id = $1", id, row: Self.stream) ?? nil
    }

    private static func stream(_ row: Row) -> EventStreamRecord? {
        guard let owner = KeyOwner(path: row.string(1)) else { return nil }
        return EventStreamRecord(
            id: row.string(0), owner: owner, audience: row.string(2),
            types: row.string(3).split(separator: " ").compactMap { EventType(rawValue: String($0)) }, position: row.int(4),
            createdAt: row.int(5))
    }

    /// Inserts or replaces a stream, except its position.
    package func put(_ stream: EventStreamRecord) throws {
        try execute(
            """
            INSERT INTO event_stream (id, owner, audience, types, position, created_at) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (id) DO UPDATE SET audience = excluded.audience, types = excluded.types
            """, stream.id, stream.owner.path, stream.audience, stream.types.map(\.rawValue).joined(separator: " "), stream.position,
            stream.createdAt)
    }

    /// Returns `false` if the stream does not exist.
    package func deleteEventStream(_ id: String) throws -> Bool {
        try execute("DELETE FROM event_stream WHERE id = $1", id) == 1
    }

    /// Records that the receiver of a stream has acknowledged an event. Unknown and earlier events are ignored.
    ///
    /// - Returns: Whether the event is known.
    package func acknowledge(_ eventId: String, of stream: EventStreamRecord) throws -> Bool {
        let position = try queryOne(
            "SELECT position FROM security_event WHERE id = $1 AND position > $2", eventId, stream.position
        ) { $0.int(0) }
        guard let position else { return false }
        try execute(
            "INSERT INTO event_stream_ack (stream_id, position) VALUES ($1, $2) ON CONFLICT (stream_id, position) DO NOTHING", stream.id,
            position)
        return true
    }

    package func acknowledged(of stream: EventStreamRecord) throws -> Set<Int64> {
        Set(try query("SELECT position FROM event_stream_ack WHERE stream_id = $1", stream.id) { $0.int(0) })
    }

    /// Sets the position up to which everything is acknowledged.
    package func move(_ stream: EventStreamRecord, to position: Int64) throws {
        try execute("UPDATE event_stream SET position = $2 WHERE id = $1", stream.id, position)
        try execute("DELETE FROM event_stream_ack WHERE stream_id = $1 AND position <= $2", stream.id, position)
    }
}
