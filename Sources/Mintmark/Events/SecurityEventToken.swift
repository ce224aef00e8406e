import Contract
import JSON
import ServiceContext

/// The claims of a Security Event Token (RFC 8417) about an event. They depend on the event and the stream only, so a token that is sent
/// again has the same claims.
enum SecurityEventToken {
    /// The media type in the header, by which receivers distinguish it from other tokens (RFC 8417 §2.3).
    static let type = "secevent+jwt"

    private static let caep = "https://schemas.openid.net/secevent/caep/event-type/"
    private static let risc = "https://schemas.openid.net/secevent/risc/event-type/"

    private static let verification = "https://schemas.openid.net/secevent/ssf/event-type/verification"

    /// Returns the claims, or `nil` if the type of the event is not known to this version.
    static func claims(_ record: SecurityEventRecord, to stream: EventStreamRecord, in realm: Deployment) -> [UInt8]? {
        if record.type == SecurityEventRecord.verification { return verification(record, to: stream, in: realm) }
        return record.answer.map { claims($0, to: stream, in: realm) }
    }

    /// The event with which a receiver verifies a stream (OpenID Shared Signals Framework 1.0 §8.1.4).
    private static func verification(_ record: SecurityEventRecord, to stream: EventStreamRecord, in realm: Deployment) -> [UInt8] {
        var payload = JSONObject()
        payload["state"] = record.members["state"]
        let claims: JSONObject = [
            "iss": .string(realm.issuer(of: stream.owner)), "aud": .string(stream.audience), "iat": .number(.init(record.at)),
            "jti": .string(record.id), "sub_id": ["format": "opaque", "id": .string(stream.id)],
            "events": .object([verification: .object(payload)]),
        ]
        return JSONValue.object(claims).bytes
    }

    private static func claims(_ event: SecurityEvent, to stream: EventStreamRecord, in realm: Deployment) -> [UInt8] {
        let issuer = realm.issuer(of: stream.owner)
        let (uri, payload) = content(event, in: realm)
        var claims: JSONObject = [:]
        claims["iss"] = .string(issuer)
        claims["aud"] = .string(stream.audience)
        claims["iat"] = .number(.init(event.occurredAt))
        claims["toe"] = .number(.init(event.occurredAt))
        claims["jti"] = .string(event.eventId)
        claims["sub_id"] = .object(subject(of: event, issuer))
        claims["events"] = .object([uri: .object(payload)])
        return Array(JSONValue.object(claims).text.utf8)
    }

    /// The subject identifier (RFC 9493).
    private static func subject(of event: SecurityEvent, _ issuer: String) -> JSONObject {
        if let id = event.accountId ?? event.identityId {
            let user: JSONObject = ["format": "iss_sub", "iss": .string(issuer), "sub": .string(id)]
            guard let session = event.sessionId else { return user }
            return ["format": "complex", "user": .object(user), "session": ["format": "opaque", "id": .string(session)]]
        }
        if let id = event.kid ?? event.subject { return ["format": "opaque", "id": .string(id)] }
        return ["format": "uri", "uri": .string(issuer)]
    }

    /// The type of the event and its members. CAEP and RISC define some types; the others have a URI below the issuer of the deployment.
    private static func content(_ event: SecurityEvent, in realm: Deployment) -> (uri: String, JSONObject) {
        var payload: JSONObject = ["event_timestamp": .number(.init(event.occurredAt))]
        switch event.type {
        case .sessionEnded: return (caep + "session-revoked", payload)
        case .accountDeleted: return (risc + "account-purged", [:])
        case .accountChanged where passwordMethods.contains(event.method ?? ""):
            payload["credential_type"] = "password"
            payload["change_type"] = "update"
            return (caep + "credential-change", payload)
        default: break
        }
        payload["method"] = event.method.map { .string($0) }
        payload["providers"] = event.providers.map { .array($0.map { .string($0) }) }
        payload["absorbed"] = event.absorbed.map { .array($0.map { .string($0) }) }
        payload["issued_before"] = event.issuedBefore.map { .number(.init($0)) }
        payload["locked_until"] = event.lockedUntil.map { .number(.init($0)) }
        return ("\(realm.issuer)/event-type/\(event.type.rawValue)", payload)
    }

    private static let passwordMethods: Set = ["account.changePassword", "account.setOwnPassword", "passwordReset.submitPassword"]
}
