import Accounts
import Contract
import Platform

extension TestService {
    /// Sets the next responses of the test provider.
    ///
    /// - Throws: `IssuerNotFound`.
    public func enqueue(_ request: TestEnqueue.Params, _ call: any CallContext) throws -> TestEnqueue.Result {
        if request.clear { try context.database.write { try $0.queuePasskeyChallenges([]) } }
        if case .passkeyChallenge(let challenge) = request.answer {
            guard (16...128).contains(Base64URL.decode(challenge.utf8)?.count ?? 0) else {
                let message = "passkeyChallenge must be 16 to 128 bytes in base64url."
                throw InvalidParams(violations: [Violation(pointer: "/passkeyChallenge", rule: "pattern", message: message)])
            }
            let waiting = try context.database.write { tx in
                try tx.queuePasskeyChallenges(try tx.queuedPasskeyChallenges() + [challenge])
                return try tx.queuedPasskeyChallenges()
            }
            return TestEnqueue.Result(waiting: waiting.map { TestAnswer(passkeyChallenge: $0) })
        }
        // Issuer URLs are often copied with a trailing slash.
        let issuer = request.issuer.hasSuffix("/") ? String(request.issuer.dropLast()) : request.issuer
        guard let name = provider.name(of: issuer) else { throw IssuerNotFound(issuer: request.issuer) }
        let tenantId = provider.settings(of: name).tenantId ?? name
        guard try context.database.read({ try configurations.knownTenant(tenantId, in: $0) }) != nil else {
            throw IssuerNotFound(issuer: request.issuer)
        }
        let waiting = provider.memory.withLock { memory in
            if request.clear { memory.queue[name] = nil }
            if let answer = request.answer { memory.queue[name, default: []].append(answer) }
            return memory.queue[name] ?? []
        }
        return TestEnqueue.Result(
            waiting: waiting.map {
                switch $0 {
                case .claims(let claims): TestAnswer(claims: EncodedObject(claims))
                case .error(let error): TestAnswer(error: error)
                case .passkeyChallenge(let challenge): TestAnswer(passkeyChallenge: challenge)
                }
            })
    }
}
