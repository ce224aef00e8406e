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

    /// The status of streams, and the deliveries of those that push.
    package static let delivery: [SQL] = [
        "ALTER TABLE event_stream ADD COLUMN status TEXT NOT NULL DEFAULT 'enabled'",
        "ALTER TABLE event_stream ADD COLUMN status_reason TEXT",
        "ALTER TABLE event_stream ADD COLUMN push TEXT",
        "ALTER TABLE event_stream ADD COLUMN failures BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE event_stream ADD COLUMN failing_since BIGINT",
        "ALTER TABLE event_stream ADD COLUMN next_attempt_at BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE event_stream ADD COLUMN last_error TEXT",
        "ALTER TABLE event_stream ADD COLUMN sender TEXT",
        "ALTER TABLE event_stream ADD COLUMN sender_until BIGINT NOT NULL DEFAULT 0",
    ]
}

/// A stream of events for one receiver.
package struct EventStreamRecord: Sendable {
    /// The state of the deliveries of a stream that pushes.
    package struct Delivery: Sendable {
        package var failures: Int64 = 0
        package var failingSince: Int64?
        package var nextAttemptAt: Int64 = 0
        package var lastError: String?

        package init() {}
    }

    package let id: String
    package let owner: KeyOwner
    package var audience: String
    /// The types of the events; empty for all.
    package var types: [EventType]
    package var position: Int64
    package let createdAt: Int64
    package var status = EventStreamStatus.enabled
    package var statusReason: String?
    package var receiver: EventReceiver?
    package var delivery = Delivery()

    package init(id: String, owner: KeyOwner, audience: String, position: Int64, createdAt: Int64) {
        (self.id, self.owner, self.audience, self.types) = (id, owner, audience, [])
        (self.position, self.createdAt) = (position, createdAt)
    }

    /// Returns whether the stream has this event.
    package func has(_ event: SecurityEventRecord) -> Bool {
        if event.type == SecurityEventRecord.verification { return event.members["streamId"]?.string == id }
        let member = owner.tenantId == nil ? "poolId" : "tenantId"
        guard let type = EventType(rawValue: event.type), event.members[member]?.string == owner.tenantId ?? owner.poolId else {
            return false
        }
        return types.isEmpty || types.contains(type)
    }

    package func answer(in realm: Deployment) -> EventStream {
        let isFailing = delivery.failures > 0
        return EventStream(
            streamId: id, tenantId: owner.tenantId, poolId: owner.poolId, issuer: realm.issuer(of: owner), audience: audience,
            types: types.isEmpty ? nil : types, status: status, statusReason: statusReason,
            push: receiver.map {
                EventPushState(
                    url: $0.url, allowPrivateNetwork: $0.allowPrivateNetwork, allowInsecure: $0.allowInsecure,
                    hasAuthorization: $0.sealedAuthorization != nil, failures: delivery.failures, failingSince: delivery.failingSince,
                    nextAttemptAt: isFailing && status == .enabled ? delivery.nextAttemptAt : nil, lastError: delivery.lastError)
            },
            createdAt: createdAt)
    }
}

/// The receiver to which a stream pushes its tokens.
package struct EventReceiver: Sendable {
    package let url: String
    package let allowPrivateNetwork: Bool
    package let allowInsecure: Bool
    /// The encrypted value of the header `Authorization`.
    package var sealedAuthorization: String?

    package init(url: String, allowPrivateNetwork: Bool, allowInsecure: Bool) {
        (self.url, self.allowPrivateNetwork, self.allowInsecure) = (url, allowPrivateNetwork, allowInsecure)
    }

    fileprivate init?(record text: String) {
        guard let record = try? JSONValue(parsing: text), let url = record["url"]?.string else { return nil }
        self.init(
            url: url, allowPrivateNetwork: record["allowPrivateNetwork"]?.bool ?? false,
            allowInsecure: record["allowInsecure"]?.bool ?? false)
        sealedAuthorization = record["authorization"]?.string
    }

    fileprivate var record: String {
        var record: JSONObject = [
            "url": .string(url), "allowPrivateNetwork": .bool(allowPrivateNetwork), "allowInsecure": .bool(allowInsecure),
        ]
        record["authorization"] = sealedAuthorization.map { .string($0) }
        return JSONValue.object(record).text
    }
}

extension SecurityEventRecord {
    /// The type of an event for one stream only, which no method returns.
    package static let verification = "streamVerification"
}

extension Transaction {
    package func eventStreams() throws -> [EventStreamRecord] { try eventStreams(named: "") }

    package func eventStream(_ id: String) throws -> EventStreamRecord? { try eventStreams(named: id).first }

    /// - Parameter id: The ID, or an empty string for all streams, which are few.
    private func eventStreams(named id: String) throws -> [EventStreamRecord] {
        try query(
            """
            SELECT id, owner, audience, types, position, created_at, status, status_reason, push, failures, failing_since, next_attempt_at,
                last_error
            FROM event_stream WHERE id = $1 OR $1 = '' ORDER BY id
            """, id, row: Self.stream
        ).compactMap { $0 }
    }

    private static func stream(_ row: Row) -> EventStreamRecord? {
        guard let owner = KeyOwner(path: row.string(1)) else { return nil }
        var stream = EventStreamRecord(
            id: row.string(0), owner: owner, audience: row.string(2), position: row.int(4), createdAt: row.int(5))
        stream.types = row.string(3).split(separator: " ").compactMap { EventType(rawValue: String($0)) }
        stream.status = EventStreamStatus(rawValue: row.string(6)) ?? .disabled
        stream.statusReason = row.optionalString(7)
        stream.receiver = row.optionalString(8).flatMap { EventReceiver(record: $0) }
        stream.delivery.failures = row.int(9)
        stream.delivery.failingSince = row.optionalInt(10)
        stream.delivery.nextAttemptAt = row.int(11)
        stream.delivery.lastError = row.optionalString(12)
        return stream
    }

    /// Inserts a stream, or replaces its settings.
    package func put(_ stream: EventStreamRecord) throws {
        try execute(
            """
            INSERT INTO event_stream (id, owner, audience, types, position, created_at, push) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (id) DO UPDATE SET audience = excluded.audience, types = excluded.types, push = excluded.push
            """, stream.id, stream.owner.path, stream.audience, stream.types.map(\.rawValue).joined(separator: " "), stream.position,
            stream.createdAt, stream.receiver?.record)
    }

    package func setStatus(of stream: EventStreamRecord) throws {
        try execute(
            "UPDATE event_stream SET status = $2, status_reason = $3 WHERE id = $1", stream.id, stream.status.rawValue, stream.statusReason)
    }

    package func setDelivery(of stream: EventStreamRecord) throws {
        let delivery = stream.delivery
        try execute(
            "UPDATE event_stream SET failures = $2, failing_since = $3, next_attempt_at = $4, last_error = $5 WHERE id = $1", stream.id,
            delivery.failures, delivery.failingSince, delivery.nextAttemptAt, delivery.lastError)
    }

    /// Makes a process the only sender of a stream until a time. The time is that of the machine, because the clock of a testing store can
    /// stop. Clocks of machines can differ by a minute. A sender until a later time is from before a clock was set back.
    ///
    /// - Returns: `false` if another process is the sender.
    package func beginSending(_ streamId: String, as sender: String, at now: Int64, until end: Int64) throws -> Bool {
        try execute(
            """
            UPDATE event_stream SET sender = $2, sender_until = $4
            WHERE id = $1 AND (sender IS NULL OR sender = $2 OR sender_until < $3 OR sender_until > $5)
            """, streamId, sender, now, end, end + 60) == 1
    }

    package func endSending(_ streamId: String, as sender: String) throws {
        try execute("UPDATE event_stream SET sender = NULL WHERE id = $1 AND sender = $2", streamId, sender)
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

    /// Stores an event for one stream.
    ///
    /// - Returns: The ID of the event.
    package func insertVerification(of streamId: String, state: String?, at now: Int64) throws -> String {
        let id = SecurityEventDraft.newId(at: now)
        var members: JSONObject = ["streamId": .string(streamId)]
        members["state"] = state.map { .string($0) }
        try execute(
            "INSERT INTO security_event (id, at, type, content) VALUES ($1, $2, $3, $4)", id, now, SecurityEventRecord.verification,
            JSONValue.object(members).text)
        return id
    }
}
