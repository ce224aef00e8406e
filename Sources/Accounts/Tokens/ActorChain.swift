import Contract
import JSON

/// An actor that acts for the subject of a token (RFC 8693 section 4.1).
package struct TokenActor: Sendable, Equatable {
    package let issuer: String
    package let subject: String
    package let clientId: String?
    /// The session of an actor that is an account of this store.
    package let sessionId: String?

    package init(issuer: String, subject: String, clientId: String?, sessionId: String?) {
        self.issuer = issuer
        self.subject = subject
        self.clientId = clientId
        self.sessionId = sessionId
    }
}

/// The actors in the claim `act` of a token, the current actor first.
package struct ActorChain: Sendable, Equatable {
    /// The maximum number of actors in a token.
    package static let maximum = 4

    package let actors: [TokenActor]

    package init(_ actors: [TokenActor] = []) { self.actors = actors }

    /// Reads the actors of a token. An actor without `iss` has the issuer of the token.
    ///
    /// - Parameter hasSessions: Whether the token is of the tenant, so that it names the sessions of its actors.
    /// - Throws: `SubjectTokenInvalid`, `DelegationTooDeep`.
    package init(_ claims: JSONNode, issuer: String, hasSessions: Bool = true) throws {
        var sessions: [String] = []
        if hasSessions { claims["mintmark"]?["actor_sessions"]?.forEachElement { sessions.append($1.string ?? "") } }
        var actors: [TokenActor] = []
        var next = claims["act"]
        while let act = next {
            guard act.kind == .object, let subject = act["sub"]?.string, !subject.isEmpty else {
                throw SubjectTokenInvalid(reason: "its act is not an object with sub")
            }
            guard actors.count < Self.maximum else { throw DelegationTooDeep(maximum: Int64(Self.maximum)) }
            for name in ["iss", "client_id"] where act[name] != nil && act[name]?.string == nil {
                throw SubjectTokenInvalid(reason: "the \(name) of its act is not a string")
            }
            let session = actors.count < sessions.count && !sessions[actors.count].isEmpty ? sessions[actors.count] : nil
            actors.append(
                TokenActor(
                    issuer: act["iss"]?.string ?? issuer, subject: subject, clientId: act["client_id"]?.string, sessionId: session))
            next = act["act"]
        }
        self.actors = actors
    }

    /// Returns the chain with a new current actor.
    ///
    /// - Throws: `DelegationTooDeep`.
    func adding(_ actor: TokenActor) throws -> ActorChain {
        guard actors.count < Self.maximum else { throw DelegationTooDeep(maximum: Int64(Self.maximum)) }
        return ActorChain([actor] + actors)
    }

    /// The claim `act`, or `nil` without actors.
    var claim: JSONValue? {
        actors.reversed().reduce(nil as JSONValue?) { inner, actor -> JSONValue? in
            var act: JSONObject = ["sub": .string(actor.subject), "iss": .string(actor.issuer)]
            act["client_id"] = actor.clientId.map { .string($0) }
            act["act"] = inner
            return .object(act)
        }
    }

    /// The claim `mintmark`, which names the sessions of the actors in their order, so that they can end the token.
    var sessions: JSONValue? {
        actors.isEmpty ? nil : .object(["actor_sessions": .array(actors.map { .string($0.sessionId ?? "") })])
    }
}
