import Contract
import Crypto
import JSON
import ServiceContext
import Storage

extension CredentialsService {
    /// The role session name of the enhanced flow.
    private static let sessionName = "CognitoIdentityCredentials"
    private static let sessionSeconds: Int64 = 3600

    /// Exchanges a token of the pool, or logins, for credentials of the role that the pool assigns: the enhanced flow.
    ///
    /// - Throws: `Token…` errors; `IdentityNotFound`, `IdentityDisabled`, `IdentityForbidden`, `UnauthenticatedNotAllowed`,
    ///   `LoginsDoNotMatch`, `LoginConflict` and the errors of the verification of logins; `RoleNotConfigured`, `RoleNotOffered`,
    ///   `AmbiguousRoleDenied`, `InvalidPrincipalTags`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `GetCredentialsForIdentity`.
    public func get(_ request: CredentialsGet.Params, _ call: any CallContext) throws -> CredentialsGet.Result {
        try getInPhases(request, call).value(for: call)
    }

    /// Exchanges as `get` does. The first phase reads and decides; the second one writes, if the logins are new.
    public func getInPhases(_ request: CredentialsGet.Params, _ call: any CallContext) throws -> Phase<CredentialsGet.Result> {
        let now = context.clock.now
        switch request.who {
        case .token(let token):
            if let name = request.logins?.names.first { throw PoolTokenNotAccepted(provider: name) }
            return .done(
                exchange(
                    try context.database.read { tx in
                        try authorize(SessionHolder(try verify(token, now: now, in: tx)), custom: request.customRoleArn, now: now, in: tx)
                    }, now: now))
        case .identityId(let id):
            guard let logins = request.logins, let token = logins[LoginProvider.poolTokenName] else {
                return try getInPhases(id, request.logins, custom: request.customRoleArn, call, now: now)
            }
            return .done(try get(id, ownToken: token, logins, custom: request.customRoleArn, now: now))
        }
    }

    /// Exchanges a token of the pool that is given as a login. AWS SDKs send it in this form after `GetOpenIdTokenForDeveloperIdentity`.
    ///
    /// - Throws: `InvalidParams` if there are other logins; `IdentityNotFound`, `IdentityDisabled`; a `Token…` error; `LoginsDoNotMatch` if
    ///   the token belongs to another identity.
    private func get(
        _ id: String, ownToken token: String, _ logins: Members<String>, custom: String?, now: Int64
    ) throws -> CredentialsGet.Result {
        guard logins.count == 1 else {
            let message = "\(LoginProvider.poolTokenName) must be the only login: its token proves the identity by itself."
            throw InvalidParams(violations: [Violation(pointer: "/logins", rule: "alone", message: message)])
        }
        return exchange(
            try context.database.read { tx in
                guard let identity = try tx.identity(id) else { throw IdentityNotFound(identityId: id) }
                if identity.state == .disabled { throw IdentityDisabled(identityId: id) }
                let holder = SessionHolder(try verify(token, now: now, in: tx))
                guard holder.identityId == id else { throw LoginsDoNotMatch(identityId: id) }
                return try authorize(holder, custom: custom, now: now, in: tx)
            }, now: now)
    }

    /// - Throws: `PoolNotFound` if the pool of the token was deleted together with its keys.
    private func verify(_ token: String, now: Int64, in tx: Transaction) throws -> VerifiedPoolToken {
        do { return try verifier.verify(token, now: now, in: tx) } catch let error as TokenKeyUnknown {
            let issuer = (try? JWS.parse(token)).flatMap { try? JSONText($0.payload).root["iss"]?.string }
            guard let id = issuer.flatMap({ context.realm.owner(ofIssuer: $0) })?.poolId,
                try configurations.knownPool(id, in: tx) == nil
            else { throw error }
            throw PoolNotFound(poolId: id)
        }
    }

    /// Returns credentials for an authenticated identity or a guest. If they are refused, no logins are linked.
    func get(
        _ id: String, _ logins: Members<String>?, custom: String?, _ call: any CallContext, now: Int64
    ) throws -> CredentialsGet.Result {
        try getInPhases(id, logins, custom: custom, call, now: now).value(for: call)
    }

    private func getInPhases(
        _ id: String, _ logins: Members<String>?, custom: String?, _ call: any CallContext, now: Int64
    ) throws -> Phase<CredentialsGet.Result> {
        switch try LoginVerifier(context, configurations).prove(id, logins, call, now: now) {
        case .done(let proven): return try get(proven, custom: custom, call, now: now)
        case .next(let wait, let rest):
            return .next(wait) { call in
                try rest(call).then(call) { proven, call in
                    let service = scoped(to: call)
                    return try service.get(proven, custom: custom, call, now: service.context.clock.now)
                }
            }
        }
    }

    private func get(
        _ proven: AuthenticatedIdentity, custom: String?, _ call: any CallContext, now: Int64
    ) throws -> Phase<CredentialsGet.Result> {
        let authorized = try holder(proven, call, now: now) { tx, holder in try authorize(holder, custom: custom, now: now, in: tx) }
        guard let authorized else {
            return .next(.write) { call in try scoped(to: call).get(proven, custom: custom, call, now: now) }
        }
        return .done(exchange(authorized, now: now))
    }

    /// A holder with the role that the pool assigns.
    private struct Authorized {
        let holder: SessionHolder
        let role: GivenRole
        let issuing: Issuing
    }

    private func authorize(_ holder: SessionHolder, custom: String?, now: Int64, in tx: Transaction) throws -> Authorized {
        let role = try givenRole(to: holder, custom: custom, now: now, in: tx)
        return Authorized(holder: holder, role: role, issuing: try issuing(to: holder, roleName: role.name, now: now, in: tx))
    }

    private func exchange(_ authorized: Authorized, now: Int64) -> CredentialsGet.Result {
        let (holder, role) = (authorized.holder, authorized.role)
        let credentials = issue(
            Session(
                holder: holder, roleName: role.name, name: Self.sessionName, seconds: Self.sessionSeconds,
                policy: holder.isGuest ? GuestScope.mark : nil),
            authorized.issuing, now: now)
        return CredentialsGet.Result(identityId: holder.identityId, credentials: credentials, roleArn: role.arn)
    }

    /// Resolves the identity of the logins or the guest. Links logins and merges identities as necessary.
    ///
    /// - Parameter complete: Completes the call in the same transaction. If it throws, nothing is changed.
    /// - Returns: `nil` if something must change and the thread of the call must not wait.
    func holder<Outcome>(
        _ proven: AuthenticatedIdentity, _ call: any CallContext, now: Int64,
        complete: (Transaction, SessionHolder) throws -> Outcome
    ) throws -> Outcome? {
        let id = proven.identity.id
        let event = AuditEvent(method: CredentialsGet.info.name, by: call, poolId: proven.pool.id)
        return try context.resolve(event, at: now) { tx in
            let pool = try configurations.pool(proven.pool.id, in: tx)
            return ((), try IdentityResolution.Facts(tx, pool: pool, given: id, logins: proven.proofs.map(\.login)))
        } complete: { tx, _, identity in
            let holder = SessionHolder(
                poolId: proven.pool.id, identityId: identity.id, amr: AuthenticationMethods(proven.proofs).list,
                tags: try proven.pool.tagMaps.tags(of: proven.proofs), proofs: proven.proofs)
            return try complete(tx, holder)
        }?.outcome
    }

    /// A role that the pool assigns and whose trust policy allows the session.
    private struct GivenRole {
        let name: String
        let arn: String
    }

    /// Returns the role that the pool assigns, if its trust policy allows the session and the tags fit into the session.
    ///
    /// - Throws: `RoleNotConfigured`, `RoleNotOffered`, `AmbiguousRoleDenied`.
    private func givenRole(to holder: SessionHolder, custom: String?, now: Int64, in tx: Transaction) throws -> GivenRole {
        let (role, arn) = try role(for: holder, custom: custom, in: tx)
        let judgement = role.trustPolicy.judge(
            context(of: holder, sessionName: Self.sessionName, at: now), tagged: !holder.tags.isEmpty)
        if case .refused(let action, let why) = judgement {
            throw RoleNotConfigured(poolId: holder.poolId, roleArn: arn, reason: "the role's trust policy does not allow \(action): \(why)")
        }
        let percent = PackedPolicy.percent(policy: nil, tags: holder.tags)
        guard percent <= 100 else {
            let reason = "the session tags use \(percent) % of the available space"
            throw RoleNotConfigured(poolId: holder.poolId, roleArn: arn, reason: reason)
        }
        return GivenRole(name: role.record.name, arn: arn)
    }

    /// Returns the role that the pool assigns.
    private func role(for holder: SessionHolder, custom: String?, in tx: Transaction) throws -> (
        role: PoolConfigurationCache.KnownRole, arn: String
    ) {
        let realm = context.realm
        let choice = try RoleResolution.decide(
            .init(
                poolId: holder.poolId, isGuest: holder.isGuest, logins: holder.proofs.map { ($0.mappingKey, $0.claims) },
                mappings: try configurations.pool(holder.poolId, in: tx).roleMappings, custom: custom))
        let arn: String
        switch choice {
        case .role(let chosen): arn = chosen
        case .ofPool:
            guard let name = try configurations.roleName(holder.isGuest ? .guest : .authenticated, of: holder.poolId, in: tx) else {
                let kind = holder.isGuest ? "guests" : "authenticated identities"
                throw RoleNotConfigured(poolId: holder.poolId, roleArn: nil, reason: "it has no role for \(kind)")
            }
            arn = realm.arn(ofRole: name)
            if let custom, custom != arn {
                throw RoleNotOffered(roleArn: custom, reason: "the pool assigns a single role to these logins.")
            }
        }
        guard let role = try realm.roleName(of: arn).flatMap({ try configurations.role($0, in: tx) }) else {
            throw RoleNotConfigured(poolId: holder.poolId, roleArn: arn, reason: "role \(arn) does not exist")
        }
        return (role, arn)
    }
}
