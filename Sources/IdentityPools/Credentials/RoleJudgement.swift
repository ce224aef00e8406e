import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys
import Storage

/// Verifies a token that is presented to assume a role, and evaluates the trust policy of the role.
extension CredentialsService {
    /// A verified token with the facts for the credentials.
    struct Presented {
        let holder: SessionHolder
        /// The token of a trusted issuer; `nil` for the token of a pool.
        let workload: WorkloadToken?
        let role: PoolConfigurationCache.KnownRole?
        let issuing: Issuing?
    }

    /// The facts that a trusted issuer's token needs, read in one transaction.
    private struct Facts {
        let role: PoolConfigurationCache.KnownRole?
        let sealer: SessionSealer
        let revocations: Revocations
        let isUsed: Bool
    }

    /// Verifies the token of a pool or trusted issuer. Its `iss` alone decides which.
    ///
    /// - Throws: A `Token…` error, `ProviderUnavailable`, `ProviderUnusable`.
    func verify(_ token: String, for roleArn: String, _ call: any CallContext, now: Int64) throws -> Presented {
        let presented = try PresentedToken(token)
        let (pool, issuer, facts) = try context.database.read { tx -> (Presented?, KnownIssuer?, Facts?) in
            let role = try context.realm.roleName(of: roleArn).flatMap { try configurations.role($0, in: tx) }
            // A pool of this store has no record, and a missing record is not cached.
            let named = presented.issuer.flatMap { context.realm.owner(ofIssuer: $0)?.poolId == nil ? $0 : nil }
            let issuer = try named.flatMap { try configurations.trustedIssuer($0, in: tx) }
            guard issuer == nil, let jws = presented.jws, isOfStore(presented, jws) else {
                let used = try issuer.flatMap { try UsedWorkloadToken(presented, $0)?.isKnown(in: tx) } ?? false
                return (
                    nil, issuer,
                    Facts(
                        role: role, sealer: try configurations.sessionKeys.current(in: tx),
                        revocations: try configurations.revocations(in: tx), isUsed: used)
                )
            }
            let holder = SessionHolder(try verifier.verify(jws, now: now, in: tx))
            let issuing = try role.map { try self.issuing(to: holder, roleName: $0.record.name, now: now, in: tx) }
            return (Presented(holder: holder, workload: nil, role: role, issuing: issuing), nil, nil)
        }
        if let pool { return pool }
        guard let facts else { throw TokenMalformed(reason: "it cannot be read") }
        let workload = try verify(presented, of: issuer, call, now: now)
        try checkStanding(of: workload, facts, now: now)
        let holder = try SessionHolder(workload)
        let issuing = facts.role.map { role in
            let targets = targets("", "", holder.federated, roleName: role.record.name)
            return Issuing(sealer: facts.sealer, issuedAt: facts.revocations.issueMoment(targets, now: now))
        }
        return Presented(holder: holder, workload: workload, role: facts.role, issuing: issuing)
    }

    /// Whether the store itself claims to have signed the token. Its own keys then decide.
    private func isOfStore(_ presented: PresentedToken, _ jws: JWS) -> Bool {
        if jws.header.hasType(TokenType.pool) { return true }
        return presented.issuer.flatMap { context.realm.owner(ofIssuer: $0) } != nil
    }

    /// Runs the checks of a trusted issuer's token in their order.
    ///
    /// - Parameter use: The use that the issuer must permit; `nil` for any.
    func verify(
        _ presented: PresentedToken, of issuer: KnownIssuer?, for use: String? = "roles", _ call: any CallContext, now: Int64
    ) throws -> WorkloadToken {
        if let jws = presented.jws { try WorkloadTokenRules.checkType(jws.header, issuer?.types ?? ["jwt"]) }
        guard let issuer, use.map(issuer.uses.contains) ?? true else {
            if let algorithm = presented.refusedAlgorithm, let iss = presented.issuer, context.realm.owner(ofIssuer: iss) != nil {
                throw TokenAlgorithmNotAllowed(algorithm: algorithm)
            }
            throw TokenIssuerMismatch(expected: "a pool of this store or a trusted issuer", actual: presented.issuer ?? "(none)")
        }
        if let tenantId = issuer.tenantId { return try verify(ofTenant: tenantId, presented.text, issuer, now: now) }
        guard let jws = presented.jws else { throw TokenAlgorithmNotAllowed(algorithm: presented.refusedAlgorithm ?? "") }
        let key: PublicKey?
        if let keys = issuer.keys {
            key = keys.key(for: jws.header)
        } else {
            key = try context.foreign.key(for: jws.header, issuer: issuer.issuer, of: issuer.address, call)
        }
        try WorkloadTokenRules.checkSignature(jws, key, issuer)
        return try WorkloadTokenRules.check(presented.claims, issuer, now: now)
    }

    /// Verifies the ID token of a tenant of this store: session and account must be valid.
    private func verify(ofTenant tenantId: String, _ token: String, _ issuer: KnownIssuer, now: Int64) throws -> WorkloadToken {
        let claims = try configurations.tenants.verify(idToken: token, tenantId: tenantId, now: now, in: context).claims
        return try WorkloadTokenRules.check(claims, issuer, now: now)
    }

    private func checkStanding(of token: WorkloadToken, _ facts: Facts, now: Int64) throws {
        if facts.isUsed { throw TokenReplayed() }
        let targets = Revocations.Target.of(token.issuer.issuer, token.subject)
        // A token of the same second can be newer than the revocation. A token without `iat` cannot show that it is.
        if facts.revocations.hit(targets, issuedAt: token.issuedAt.map { $0 + 1 } ?? 0) != nil {
            throw TokenRevoked(reason: "credentials.revoke applies to its issuer or subject")
        }
    }

    // MARK: Trust policy

    /// The request for a role, whose values are condition keys.
    struct RoleRequest {
        let sessionName: String
        let durationSeconds: Int64
        /// The address of the workload, if it is known.
        let sourceIp: String?
    }

    /// Returns the condition keys for a verified token.
    func context(of presented: Presented, _ request: RoleRequest, at now: Int64) -> PolicyContext {
        guard let workload = presented.workload else {
            var context = context(of: presented.holder, sessionName: request.sessionName, at: now)
            context.set("sts:DurationSeconds", String(request.durationSeconds))
            if let address = request.sourceIp { context.set("aws:SourceIp", address) }
            return context
        }
        var context = PolicyContext(at: now)
        context.claims = WorkloadClaims(workload)
        context.set("aws:FederatedProvider", workload.issuer.federatedProvider)
        context.set("sts:RoleSessionName", request.sessionName)
        context.set("sts:DurationSeconds", String(request.durationSeconds))
        if let address = request.sourceIp { context.set("aws:SourceIp", address) }
        if let identity = presented.holder.sourceIdentity { context.set("sts:SourceIdentity", identity) }
        for tag in presented.holder.tags { context.set("aws:RequestTag/\(tag.key)", tag.value) }
        if !presented.holder.tags.isEmpty { context.set("aws:TagKeys", many: presented.holder.tags.map(\.key)) }
        context.set("sts:TransitiveTagKeys", many: presented.holder.transitiveTagKeys)
        return context
    }

    /// Returns the actions that the trust policy must allow.
    func actions(for holder: SessionHolder) -> [String] {
        [TrustPolicy.assumeAction] + (holder.tags.isEmpty ? [] : [TrustPolicy.tagAction])
            + (holder.sourceIdentity == nil ? [] : [TrustPolicy.sourceIdentityAction])
    }

    func caller(of presented: Presented) -> TrustPolicy.Caller {
        presented.workload.map { .issuer($0.issuer.principals(in: context.realm)) } ?? .pool
    }
}

extension UsedWorkloadToken {
    /// The mark of a token; `nil` if its issuer allows repeated use.
    init?(_ presented: PresentedToken, _ issuer: KnownIssuer) {
        guard issuer.isSingleUse, let tokenId = presented.claims["jti"]?.string else { return nil }
        self.init(issuer: issuer.issuer, tokenId: tokenId, expiresAt: 0)
    }

    init?(_ token: WorkloadToken) {
        guard token.issuer.isSingleUse, let tokenId = token.tokenId else { return nil }
        self.init(
            issuer: token.issuer.issuer, tokenId: tokenId, expiresAt: token.expiresAt + 2 * WorkloadTokenRules.leewaySeconds)
    }
}
