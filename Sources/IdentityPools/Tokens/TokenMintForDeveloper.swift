import Contract
import Crypto
import ServiceContext
import Storage

extension PoolTokens {
    /// Mints an OpenID token for a user that the caller has authenticated.
    ///
    /// - Throws: `PoolNotFound`, `UnsupportedDeveloperProvider`, `InvalidLogin`, `InvalidPrincipalTags`, `IdentityNotFound`,
    ///   `IdentityDisabled`, `LoginsDoNotMatch`, `DeveloperUserAlreadyRegistered`, `LoginConflict`, and the errors of login verification.
    /// - Source: `GetOpenIdTokenForDeveloperIdentity` in the Amazon Cognito API reference.
    public func mintForDeveloper(_ request: TokenMintForDeveloper.Params, _ call: any CallContext) throws -> TokenMintForDeveloper.Result {
        try mintForDeveloperInPhases(request, call).value(for: call)
    }

    /// Mints as `mintForDeveloper` does. The first phase reads and decides; the second one writes, if the logins are new.
    public func mintForDeveloperInPhases(
        _ request: TokenMintForDeveloper.Params, _ call: any CallContext
    ) throws -> Phase<TokenMintForDeveloper.Result> {
        let now = context.clock.now
        let tags = try SessionTags.validated(request.principalTags)
        switch try proofs(request, call, now: now) {
        case .done(let proofs): return try mint(request, tags: tags, proofs: proofs, call, now: now)
        case .next(let wait, let rest):
            return .next(wait) { call in
                try rest(call).then(call) { proofs, call in
                    let minting = scoped(to: call)
                    return try minting.mint(request, tags: tags, proofs: proofs, call, now: minting.context.clock.now)
                }
            }
        }
    }

    private func mint(
        _ request: TokenMintForDeveloper.Params, tags: [(key: String, value: String)], proofs: [VerifiedLogin],
        _ call: any CallContext, now: Int64
    ) throws -> Phase<TokenMintForDeveloper.Result> {
        let minted = try context.resolve(
            AuditEvent(method: TokenMintForDeveloper.info.name, by: call, poolId: request.poolId),
            recordsKept: context.audit.recordsIssuance, at: now
        ) { tx in
            let issuing = try configurations.issuingPool(request.poolId, in: tx)
            let pool = issuing.pool
            try tx.requireUsable(request.identityId, in: request.poolId)
            let login = try DeveloperLogin.find(in: request.logins, of: pool)
            let issuer = try issuing.issuer(at: now)
            let facts = try IdentityResolution.Facts(
                tx, pool: pool, given: request.identityId, logins: proofs.isEmpty ? [login] : [login] + proofs.map(\.login),
                developerLogin: login)
            return ((login: login, issuer: issuer), facts)
        } complete: { _, chosen, identity in
            let claims = PoolTokenClaims(
                issuer: chosen.issuer, identityId: identity.id, amr: .init(chosen.login, proofs, in: request.poolId), tags: tags,
                issuedAt: now, expiresAt: now + request.durationSeconds)
            return (chosen.issuer, try claims.checkedJSON())
        }
        guard let ((issuer, claims), identity) = minted else {
            return .next(.write) { call in try scoped(to: call).mint(request, tags: tags, proofs: proofs, call, now: now) }
        }
        let token = try issuer.sign(claims)
        return .done(
            TokenMintForDeveloper.Result(
                identityId: identity.id, token: token, expiresAt: now + request.durationSeconds, isNewIdentity: identity.isNew))
    }

    /// Verifies the public logins of the request and returns them.
    private func proofs(
        _ request: TokenMintForDeveloper.Params, _ call: any CallContext, now: Int64
    ) throws -> Phase<[VerifiedLogin]> {
        if request.logins.count == 1 { return .done([]) }
        let pool = try context.database.read { tx in
            let pool = try configurations.pool(request.poolId, in: tx)
            try tx.requireUsable(request.identityId, in: pool.id)
            return pool
        }
        let developer = try DeveloperLogin.find(in: request.logins, of: pool)
        let others = Members(request.logins.filter { $0.name != developer.provider }.map { ($0.name, $0.value) })
        let unknown = others.names.filter { pool.provider(named: $0) == nil }
        if !unknown.isEmpty {
            throw pool.unsupported(unknown)
        }
        return try LoginVerifier(context, configurations).verify(others, of: pool, call, now: now)
    }
}

/// The developer login of a request.
enum DeveloperLogin {
    /// - Throws: `UnsupportedDeveloperProvider`, `InvalidLogin`.
    static func find(in logins: Members<String>, of pool: PoolRecord) throws -> Login {
        guard let provider = pool.developerProvider, let subject = logins[provider] else {
            throw pool.unsupported(logins.names.filter { pool.provider(named: $0) == nil })
        }
        guard subject.unicodeScalars.count <= 1024 else {
            throw InvalidLogin(provider: provider, reason: "a developer user identifier has at most 1024 characters")
        }
        return Login(provider: provider, subject: subject)
    }
}
