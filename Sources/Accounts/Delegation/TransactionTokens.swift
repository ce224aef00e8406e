import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys
import Storage

/// The transaction tokens of a tenant, which carry the user and the context of one request through the workloads of a trust domain
/// (draft-ietf-oauth-transaction-tokens).
extension DelegatedTokens {
    /// The maximum lifetime of a transaction token, in seconds.
    private static let maximumTransactionSeconds: Int64 = 300

    /// The request for a transaction token.
    package struct TransactionWish: Sendable {
        let clientId: String
        /// The trust domain.
        let audience: String
        let scope: String
        let expiresInSeconds: Int64?
        let transaction: TransactionDescription

        package init(
            clientId: String, audience: String, scope: String, expiresInSeconds: Int64?, _ transaction: TransactionDescription
        ) {
            (self.clientId, self.audience, self.scope) = (clientId, audience, scope)
            (self.expiresInSeconds, self.transaction) = (expiresInSeconds, transaction)
        }
    }

    /// The statements of the application about the request that the transaction serves.
    package struct TransactionDescription: Sendable {
        /// The origin of the request (`rctx`).
        let context: JSONObject?
        /// The subject of the request (`tctx`).
        let details: JSONObject?

        package init(context: JSONObject?, details: JSONObject?) {
            (self.context, self.details) = (context, details)
        }
    }

    /// Returns a transaction token for the user of a token, with the actors of that token.
    ///
    /// - Throws: `ExchangeNotAllowed`, `ActorTokenRequired`, `ScopeNotGranted`, `TokenExpired`, `TokenRevoked`.
    package func transaction(for token: VerifiedTenantToken, _ wish: TransactionWish, _ attempt: Attempt) throws -> Issued {
        let (id, now) = (context.random.uuid(), attempt.now)
        let (claims, expiresAt, scopes, key) = try context.database.write { tx -> (JSONObject, Int64, Scopes, StoredKey) in
            let tenant = try configurations.tenant(token.tenantId, in: tx)
            let subject = try subject(of: token, by: tenant, in: tx)
            // Only the actor that the claim names gets a token.
            if token.claims["may_act"] != nil { throw ActorTokenRequired() }
            let chain = try ActorChain(token.claims, issuer: token.issuer)
            try requireStanding(of: chain, at: now, in: tx)
            let scopes = try Self.scopes(of: wish, subject.scopes, by: tenant)
            let expiresAt = min(subject.end, now + min(Self.maximumTransactionSeconds, wish.expiresInSeconds ?? .max))
            if expiresAt <= now { throw TokenExpired(expiredAt: expiresAt, now: now) }
            guard let key = try configurations.signingKeys.ring(of: .tenant(tenant.id), in: tx).active(at: now) else {
                throw TenantNotFound(tenantId: tenant.id)
            }
            var claims: JSONObject = [
                "iss": .string(context.realm.issuer(of: .tenant(tenant.id))), "aud": .string(wish.audience),
                "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(expiresAt)), "txn": .string(id),
                "sub": .string(subject.accountId), "scope": .string(scopes.text), "req_wl": .string(wish.clientId),
            ]
            claims["rctx"] = wish.transaction.context.map { .object($0) }
            claims["tctx"] = wish.transaction.details.map { .object($0) }
            claims["act"] = chain.claim
            var event = AuditEvent(attempt.method, attempt.call, tenant: tenant.id, subject: subject.accountId)
            event.details["sessionId"] = .string(subject.sessionId)
            event.details["transactionId"] = .string(id)
            event.details["clientId"] = .string(wish.clientId)
            event.details["audience"] = .array([.string(wish.audience)])
            event.details["scope"] = .string(scopes.text)
            event.details["act"] = chain.claim
            try context.audit.record(event, at: now, in: tx)
            return (claims, expiresAt, scopes, key)
        }
        let signer = JWSSigner(key.privateKey, type: TokenType.transaction)
        return Issued(token: try signer.sign(JSONValue.object(claims).bytes), expiresAt: expiresAt, scope: scopes.text)
    }

    /// Returns the scopes of a transaction token: those that the tenant permits the application, within those of the user's token.
    private static func scopes(of wish: TransactionWish, _ present: Scopes, by tenant: TenantRecord) throws -> Scopes {
        let entry = (tenant.settings.transactionTokens ?? []).first {
            $0.clientId == wish.clientId && $0.audience.hasBytes(of: wish.audience)
        }
        guard let entry else {
            throw ExchangeNotAllowed(
                reason: "transactionTokens of the tenant does not permit the application \(wish.clientId) to request them for "
                    + wish.audience)
        }
        let (scopes, available) = (Scopes(wish.scope), present.names.filter(entry.scopes.contains))
        let missing = Scopes(available).lacking(scopes.names)
        if !missing.isEmpty { throw ScopeNotGranted(scopes: missing, granted: available) }
        if scopes.names.isEmpty { throw ExchangeNotAllowed(reason: "scope is empty; it names the purpose of the transaction") }
        return scopes
    }
}
