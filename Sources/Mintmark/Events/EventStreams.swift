import Contract
import Crypto
import Messages
import Platform
import ServiceContext
import Storage

/// The streams of Security Event Tokens.
extension EventsService {
    private static let maximumStreams = 100

    /// Creates or changes a stream.
    ///
    /// - Throws: `TenantNotFound`, `PoolNotFound`, `EventStreamConflict`, `TooManyEventStreams`, `EventReceiverInvalid`.
    public func putStream(_ request: EventsPutStream.Params, _ call: any CallContext) throws -> EventsPutStream.Result {
        let now = context.clock.now
        let owner: KeyOwner =
            switch request.owner {
            case .tenantId(let id): .tenant(id)
            case .poolId(let id): .pool(id)
            }
        try request.push?.check()
        try context.database.numberNewEvents()
        let answer = try context.database.write { tx in
            try tx.lock(["event streams"])
            _ = try StoreKeyOwners().algorithm(of: owner, in: tx)
            let streams = try tx.eventStreams()
            let former = streams.first { $0.id == request.streamId }
            if let former, former.owner != owner { throw EventStreamConflict(streamId: request.streamId) }
            if former == nil, streams.count >= Self.maximumStreams { throw TooManyEventStreams(maximum: Int64(Self.maximumStreams)) }
            var stream =
                try former
                ?? EventStreamRecord(
                    id: request.streamId, owner: owner, audience: request.audience, position: tx.eventRange().last, createdAt: now)
            stream.audience = request.audience
            stream.types = request.types ?? []
            stream.receiver = request.push.map { receiver($0, of: request.streamId, former?.receiver) }
            stream.delivery = .init()
            try tx.put(stream)
            try tx.setDelivery(of: stream)
            try context.audit.record(event(of: stream, EventsPutStream.info.name, call), at: now, in: tx)
            return stream.answer(in: context.realm)
        }
        if request.push != nil { sender.wake() }
        return answer
    }

    /// Returns the receiver with an encrypted header, which stays if the URL stays.
    private func receiver(_ push: EventPush, of streamId: String, _ former: EventReceiver?) -> EventReceiver {
        var receiver = EventReceiver(url: push.url, allowPrivateNetwork: push.allowPrivateNetwork, allowInsecure: push.allowInsecure)
        receiver.sealedAuthorization =
            push.authorization.map { EventAuthorization.seal($0, of: streamId, context.vault) }
            ?? (former?.url == push.url ? former?.sealedAuthorization : nil)
        return receiver
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

    /// Changes whether a stream delivers its events.
    ///
    /// - Throws: `EventStreamNotFound`.
    public func setStreamStatus(
        _ request: EventsSetStreamStatus.Params, _ call: any CallContext
    ) throws -> EventsSetStreamStatus.Result {
        let now = context.clock.now
        try context.database.numberNewEvents()
        let answer = try context.database.write { tx in
            try tx.lock(["event stream \(request.streamId)"])
            guard var stream = try tx.eventStream(request.streamId) else { throw EventStreamNotFound(streamId: request.streamId) }
            // A disabled stream does not keep its events.
            if stream.status == .disabled, request.status != .disabled { try tx.move(stream, to: tx.eventRange().last) }
            (stream.status, stream.statusReason) = (request.status, request.reason)
            stream.delivery = .init()
            try tx.setStatus(of: stream)
            try tx.setDelivery(of: stream)
            var event = event(of: stream, EventsSetStreamStatus.info.name, call)
            event.details["status"] = .string(request.status.rawValue)
            event.details["reason"] = request.reason.map { .string($0) }
            try context.audit.record(event, at: now, in: tx)
            return stream.answer(in: context.realm)
        }
        sender.wake()
        return answer
    }

    /// Stores a verification event for the receiver of a stream.
    ///
    /// - Throws: `EventStreamNotFound`, `EventStreamDisabled`.
    public func verifyStream(_ request: EventsVerifyStream.Params, _ call: any CallContext) throws -> EventsVerifyStream.Result {
        let now = context.clock.now
        return try context.database.write { tx in
            guard let stream = try tx.eventStream(request.streamId) else { throw EventStreamNotFound(streamId: request.streamId) }
            guard stream.status != .disabled else { throw EventStreamDisabled(streamId: stream.id) }
            try context.audit.record(event(of: stream, EventsVerifyStream.info.name, call), at: now, in: tx)
            return EventsVerifyStream.Result(eventId: try tx.insertVerification(of: stream.id, state: request.state, at: now))
        }
    }

    /// Returns the audit record of a change of a stream.
    func event(of stream: EventStreamRecord, _ method: String, _ call: any CallContext) -> AuditEvent {
        var event = AuditEvent(method: method, by: call, poolId: stream.owner.poolId, subject: stream.id)
        event.details["tenantId"] = stream.owner.tenantId.map { .string($0) }
        return event
    }
}

/// The header `Authorization` of the requests to a receiver. It is encrypted in the store.
enum EventAuthorization {
    static func seal(_ text: String, of streamId: String, _ vault: Vault) -> String {
        Base64URL.encode(vault.seal(SecretBytes(Array(text.utf8)), as: name(streamId)))
    }

    /// - Throws: `SealBroken`.
    static func open(_ text: String, of streamId: String, _ vault: Vault) throws -> String {
        guard let sealed = Base64URL.decode(text) else { throw SealBroken(name: name(streamId)) }
        return String(decoding: try vault.open(sealed, as: name(streamId)).copy(), as: UTF8.self)
    }

    private static func name(_ streamId: String) -> String { "event stream \(streamId)" }
}

extension EventPush {
    /// - Throws: `EventReceiverInvalid` if the URL or the header cannot be used.
    fileprivate func check() throws {
        if let flaw = WebhookURL.flaw(in: url, allowsInsecureLoopback: allowInsecure) { throw EventReceiverInvalid(reason: flaw) }
        let policy = AddressPolicy(allowsInsecureLoopback: allowInsecure, allowsPrivateNetwork: allowPrivateNetwork)
        if let parsed = try? HTTPURL(url) {
            // The addresses of a name are checked for each connection.
            let isAllowed = NetworkAddress(parsed.host).map { policy.admits($0, scheme: parsed.scheme) } ?? true
            guard isAllowed, !parsed.isLoopback || policy.admitsLoopbackNames else {
                throw EventReceiverInvalid(reason: "its address is private, loopback or reserved")
            }
        }
        if let authorization, !authorization.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) {
            throw EventReceiverInvalid(reason: "the header Authorization contains characters that are not allowed")
        }
    }
}
