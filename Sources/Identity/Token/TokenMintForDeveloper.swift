import Contract
import Crypto
import Storage

extension TokenService {
    /// Mints an OpenID token for a user whom the caller has authenticated.
    ///
    /// - Throws: `PoolNotFound`, `UnsupportedDeveloperProvider`, `InvalidLogin`, `InvalidPrincipalTags`, `IdentityNotFound`,
    ///   `IdentityDisabled`, `LoginsDoNotMatch`, `DeveloperUserAlreadyRegistered`.
    /// - Source: GetOpenIdTokenForDeveloperIdentity; cognito.md 3.6 (rules), 5.2 (claims), 7.3 (resolution).
    public func mintForDeveloper(_ request: TokenMintForDeveloper.Params, _ call: any CallContext) throws -> TokenMintForDeveloper.Result {
        let now = surroundings.clock.now
        let tags = try SessionTags.validated(request.principalTags)
        let owner = try owner(request, call, now: now)

        let claims = PoolTokenClaims(
            realm: surroundings.realm, poolId: request.poolId, identityId: owner.identityId, amr: .developer(owner.login), tags: tags,
            issuedAt: now, expiresAt: now + request.durationSeconds)
        let token = try owner.key.signer.sign(claims.json)
        return TokenMintForDeveloper.Result(
            identityId: owner.identityId, token: token, expiresAt: claims.expiresAt, isNewIdentity: owner.isNew)
    }

    /// Who the token is for, and the key that signs it.
    private struct Owner {
        let login: Login
        let key: StoredKey
        let identityId: String
        var isNew = false
    }

    /// Reads decide; only a user or a login that is new makes a write, which decides again.
    private func owner(_ request: TokenMintForDeveloper.Params, _ call: any CallContext, now: Int64) throws -> Owner {
        if Patience.current != .fullToWrite {
            let (login, key, facts) = try surroundings.database.read { try gather(request, in: $0, now: now) }
            let decision = try DeveloperResolution.decide(facts)
            if case .keep(let id) = decision, !surroundings.auditsIssuance { return Owner(login: login, key: key, identityId: id) }
        }
        let newId = surroundings.newIdentityId(at: now)
        return try surroundings.database.write { tx in
            let (login, key, facts) = try gather(request, in: tx, now: now)
            let outcome = try tx.apply(try DeveloperResolution.decide(facts), login, in: request.poolId, newId: newId, at: now)
            if outcome.changed || surroundings.auditsIssuance {
                try surroundings.audit.record(
                    AuditEvent(
                        method: TokenMintForDeveloper.info.name, trace: call.trace, poolId: request.poolId, identityId: outcome.identityId,
                        details: outcome.changed ? ["isNewIdentity": .bool(outcome.isNew)] : [:]),
                    at: now, in: tx)
            }
            return Owner(login: login, key: key, identityId: outcome.identityId, isNew: outcome.isNew)
        }
    }

    private func gather(
        _ request: TokenMintForDeveloper.Params, in tx: Transaction, now: Int64
    ) throws -> (Login, StoredKey, DeveloperResolution.Facts) {
        let (pool, keys) = try catalogue.issuingPool(request.poolId, in: tx)
        let login = try DeveloperLogin.find(in: request.logins, of: pool)
        guard let key = keys.active(at: now) else { throw PoolNotFound(poolId: pool.id) }
        return (login, key, try DeveloperResolution.Facts(tx, request.poolId, given: request.identityId, login: login))
    }
}

/// The developer login among the logins of a request (cognito.md 3.6).
enum DeveloperLogin {
    /// - Throws: `UnsupportedDeveloperProvider`, `InvalidLogin`.
    static func find(in logins: Members<String>, of pool: PoolRecord) throws -> Login {
        guard let provider = pool.developerProvider, let subject = logins[provider], logins.count == 1 else {
            throw UnsupportedDeveloperProvider(poolId: pool.id, given: logins.names, developerProvider: pool.developerProvider)
        }
        guard subject.unicodeScalars.count <= 1024 else {
            throw InvalidLogin(provider: provider, reason: "a developer user identifier has at most 1024 characters")
        }
        return Login(provider: provider, subject: subject)
    }
}

extension DeveloperResolution.Facts {
    init(_ tx: Transaction, _ poolId: String, given: String?, login: Login) throws {
        self.login = login
        developerOwner = try tx.identity(owning: login, in: poolId)
        guard let given else {
            self.given = .absent
            return
        }
        guard let identity = try tx.identity(given), identity.poolId == poolId else {
            self.given = .notFound(given)
            return
        }
        switch identity.state {
        case .guest: self.given = .guest(given)
        case .authenticated: self.given = .authenticated(given)
        case .disabled: self.given = .disabled(given)
        }
    }
}

extension Transaction {
    /// Carries out what was decided.
    fileprivate func apply(
        _ decision: DeveloperResolution.Decision, _ login: Login, in poolId: String, newId: String, at now: Int64
    ) throws -> (identityId: String, isNew: Bool, changed: Bool) {
        switch decision {
        case .keep(let id): return (id, false, false)
        case .create:
            try insert(Identity(id: newId, poolId: poolId, state: .authenticated, createdAt: now, updatedAt: now))
            _ = try link(login, to: newId, in: poolId, at: now)
            return (newId, true, true)
        case .upgrade(let id):
            _ = try link(login, to: id, in: poolId, at: now)
            try setState(.authenticated, of: id, at: now)
            return (id, false, true)
        }
    }
}
