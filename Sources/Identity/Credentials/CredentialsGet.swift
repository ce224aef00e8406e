import Contract

extension CredentialsService {
    /// The name of every session of the enhanced flow (cognito.md 6.1).
    private static let sessionName = "CognitoIdentityCredentials"
    private static let sessionSeconds: Int64 = 3600

    /// Exchanges a pool's token, or logins, for credentials of the role that the pool gives: the enhanced flow.
    ///
    /// - Throws: `Token…` errors; `IdentityNotFound`, `IdentityDisabled`, `IdentityForbidden`, `UnauthenticatedNotAllowed`,
    ///   `LoginsDoNotMatch`, `LoginConflict` and what verifying logins throws; `RoleNotConfigured`, `RoleNotOffered`,
    ///   `AmbiguousRoleDenied`, `InvalidPrincipalTags`.
    /// - Source: GetCredentialsForIdentity; cognito.md 3.5, 6.1 to 6.5.
    public func get(_ request: CredentialsGet.Params, _ call: any CallContext) throws -> CredentialsGet.Result {
        let now = surroundings.clock.now
        let holder: SessionHolder
        switch request.who {
        case .token(let token):
            holder = SessionHolder(try verifier.verify(token, .init(), now: now))
            if let name = request.logins?.names.first { throw PoolTokenNotAccepted(provider: name) }
        case .identityId(let id): holder = try self.holder(id, request.logins, call, now: now)
        }
        return try exchange(holder, custom: request.customRoleArn, now: now)
    }

    /// Credentials of the role that the pool gives to whoever was proven.
    ///
    /// - Throws: `RoleNotConfigured`, `RoleNotOffered`, `AmbiguousRoleDenied`.
    func exchange(_ holder: SessionHolder, custom: String?, now: Int64) throws -> CredentialsGet.Result {
        let (role, arn) = try role(for: holder, custom: custom)
        let judgement = role.trustPolicy.judge(
            context(of: holder, sessionName: Self.sessionName, at: now), tagged: !holder.tags.isEmpty)
        if case .refused(let action, let why) = judgement {
            throw RoleNotConfigured(poolId: holder.poolId, roleArn: arn, reason: "the role's trust policy does not allow \(action): \(why)")
        }
        let credentials = try issue(
            Session(
                holder: holder, roleName: role.record.name, name: Self.sessionName, seconds: Self.sessionSeconds,
                policy: holder.isGuest ? GuestScope.mark : nil),
            now: now)
        return CredentialsGet.Result(identityId: holder.identityId, credentials: credentials, roleArn: arn)
    }

    /// Whoever proves an identity, or is a guest; logins are linked and identities merged on the way.
    func holder(_ id: String, _ logins: Members<String>?, _ call: any CallContext, now: Int64) throws -> SessionHolder {
        let proven = try surroundings.prove(id, logins, catalogue, call, now: now)
        let event = AuditEvent(method: CredentialsGet.info.name, trace: call.trace, poolId: proven.pool.id)
        let (_, identity) = try surroundings.resolve(event, at: now) { tx in
            let pool = try catalogue.pool(proven.pool.id, in: tx)
            return ((), try IdentityResolution.Facts(tx, pool: pool, given: id, logins: proven.proofs.map(\.login)))
        }
        return SessionHolder(
            poolId: proven.pool.id, identityId: identity.id, amr: AuthenticationMethods(proven.proofs).list,
            tags: try proven.pool.tagMaps.tags(of: proven.proofs), proofs: proven.proofs
        )
    }

    /// The role that the pool gives (cognito.md 6.3).
    private func role(for holder: SessionHolder, custom: String?) throws -> (role: Catalogue.KnownRole, arn: String) {
        try surroundings.database.read { tx in
            let realm = surroundings.realm
            let choice = try RoleResolution.decide(
                .init(
                    poolId: holder.poolId, isGuest: holder.isGuest, logins: holder.proofs.map { ($0.provider.name, $0.claims) },
                    mappings: try catalogue.pool(holder.poolId, in: tx).roleMappings, custom: custom))
            let arn: String
            switch choice {
            case .role(let chosen): arn = chosen
            case .ofPool:
                guard let name = try catalogue.roleName(holder.isGuest ? .guest : .authenticated, of: holder.poolId, in: tx) else {
                    let kind = holder.isGuest ? "guests" : "authenticated identities"
                    throw RoleNotConfigured(poolId: holder.poolId, roleArn: nil, reason: "it has no role for \(kind)")
                }
                arn = realm.arn(ofRole: name)
                if let custom, custom != arn {
                    throw RoleNotOffered(roleArn: custom, reason: "the pool gives these logins one role and no choice.")
                }
            }
            guard let role = try realm.roleName(of: arn).flatMap({ try catalogue.role($0, in: tx) }) else {
                throw RoleNotConfigured(poolId: holder.poolId, roleArn: arn, reason: "there is no such role")
            }
            return (role, arn)
        }
    }
}
