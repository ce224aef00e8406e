import Accounts
import Contract
import Crypto
import IdentityPools
import ServiceContext
import SigningKeys
import Storage

/// The streams of Security Event Tokens.
extension EventsService {
    private static let maximumStreams = 100
    /// The maximum number of events that one call looks at.
    private static let maximumScan = 5_000

    /// Creates or changes a stream.
    ///
    /// - Throws: `TenantNotFound`, `PoolNotFound`, `EventStreamConflict`, `TooManyEventStreams`.
    public func putStream(_ request: EventsPutStream.Params, _ call: any CallContext) throws -> EventsPutStream.Result {
        let now = context.clock.now
        let owner: KeyOwner =
            switch request.owner {
            case .tenantId(let id): .tenant(id)
            case .poolId(let id): .pool(id)
            }
        try context.database.numberNewEvents()
        return try context.database.write { tx in
            try tx.lock(["event streams"])
            _ = try StoreKeyOwners().algorithm(of: owner, in: tx)
            let streams = try tx.eventStreams()
            let former = streams.first { $0.id == request.streamId }
            if let former, former.owner != owner { throw EventStreamConflict(streamId: request.streamId) }
            if former == nil, streams.count >= Self.maximumStreams { throw TooManyEventStreams(maximum: Int64(Self.maximumStreams)) }
            let stream = EventStreamRecord(
                id: request.streamId, owner: owner, audience: request.audience, types: request.types ?? [],
                position: try former?.position ?? tx.eventRange().last, createdAt: former?.createdAt ?? now)
            try tx.put(stream)
            try context.audit.record(event(of: stream, EventsPutStream.info.name, call), at: now, in: tx)
            return stream.answer(in: context.realm)
        }
    }

    public func listStreams(_ request: EventsListStreams.Params, _ call: any CallContext) throws -> EventsListStreams.Result {
        EventsListStreams.Result(streams: try context.database.read { try $0.eventStreams() }.map { $0.answer(in: context.realm) })
    }

    /// - Throws: `EventStreamNotFound`.
    public func deleteStream(_ request: EventsDeleteStream.Params, _ call: any CallContext) throws -> EventsDeleteStream.Result {
        let now = context.clock.now
        return try context.database.write { tx in
            guard let stream = try tx.eventStream(request.streamId), try tx.deleteEventStream(stream.id) else {
                throw EventStreamNotFound(streamId: request.streamId)
            }
            try context.audit.record(event(of: stream, EventsDeleteStream.info.name, call), at: now, in: tx)
            return EventsDeleteStream.Result(streamId: stream.id)
        }
    }

    /// Acknowledges tokens and returns the next ones (RFC 8936 §2).
    ///
    /// - Throws: `EventStreamNotFound`, `TenantNotFound`, `PoolNotFound`.
    public func poll(_ request: EventsPoll.Params, _ call: any CallContext) throws -> EventsPoll.Result {
        let now = context.clock.now
        try context.database.numberNewEvents()
        let isKnown = try context.database.read { try $0.eventStream(request.streamId) != nil }
        guard isKnown else { throw EventStreamNotFound(streamId: request.streamId) }
        let (stream, due, hasMore) = try context.database.write { tx in
            try tx.lock(["event stream \(request.streamId)"])
            guard let stream = try tx.eventStream(request.streamId) else { throw EventStreamNotFound(streamId: request.streamId) }
            for id in request.ack { _ = try tx.acknowledge(id, of: stream) }
            for refused in request.setErrs ?? [:] where try tx.acknowledge(refused.name, of: stream) {
                var event = event(of: stream, EventsPoll.info.name, call)
                event.details["eventId"] = .string(refused.name)
                event.details["err"] = .string(refused.value.err)
                event.details["description"] = refused.value.description.map { .string($0) }
                try context.audit.record(event, at: now, in: tx)
            }
            let (due, position, hasMore) = try next(of: stream, limit: Int(request.maxEvents), in: tx)
            if position > stream.position { try tx.move(stream, to: position) }
            return (stream, due, hasMore)
        }
        guard !due.isEmpty else { return EventsPoll.Result(sets: [:], moreAvailable: hasMore) }
        let signer = JWSSigner(try signingKey(of: stream.owner, at: now).privateKey, type: SecurityEventToken.type)
        let sets = try due.map { event in
            (event.eventId, try signer.sign(SecurityEventToken.claims(event, to: stream, in: context.realm)))
        }
        return EventsPoll.Result(sets: Members(sets), moreAvailable: hasMore)
    }

    /// Returns the oldest events of a stream that are not acknowledged, the position before the first of them, and whether there are more.
    private func next(
        of stream: EventStreamRecord, limit: Int, in tx: Transaction
    ) throws -> (due: [SecurityEvent], position: Int64, hasMore: Bool) {
        let acknowledged = try tx.acknowledged(of: stream)
        var (due, position, isFirstFound): ([SecurityEvent], Int64, Bool) = ([], stream.position, false)
        let events = try tx.events(after: stream.position, limit: Self.maximumScan)
        for event in events {
            guard stream.has(event), !acknowledged.contains(event.position), let answer = event.answer else {
                if !isFirstFound { position = event.position }
                continue
            }
            isFirstFound = true
            if due.count == limit { return (due, position, true) }
            due.append(answer)
        }
        return (due, position, events.count == Self.maximumScan)
    }

    /// Returns the key that signs the tokens of a stream. Creates the first key of the default tenant.
    private func signingKey(of owner: KeyOwner, at now: Int64) throws -> StoredKey {
        if case .tenant(let id) = owner {
            guard let tenant = try context.database.read({ try $0.tenant(id) }) else { throw TenantNotFound(tenantId: id) }
            _ = try signIn.publishedKeys(of: tenant)
        }
        guard let key = try context.database.read({ try signingKeys.ring(of: owner, in: $0) }).active(at: now) else {
            throw owner.poolId.map { PoolNotFound(poolId: $0) } ?? TenantNotFound(tenantId: owner.tenantId ?? "")
        }
        return key
    }

    private func event(of stream: EventStreamRecord, _ method: String, _ call: any CallContext) -> AuditEvent {
        var event = AuditEvent(method: method, by: call, poolId: stream.owner.poolId, subject: stream.id)
        event.details["tenantId"] = stream.owner.tenantId.map { .string($0) }
        return event
    }
}
