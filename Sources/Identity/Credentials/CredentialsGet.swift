import Contract

extension CredentialsService {
    /// The name of every session of the enhanced flow (cognito.md 6.1).
    private static let sessionName = "CognitoIdentityCredentials"
    private static let sessionSeconds: Int64 = 3600

    /// Exchanges a pool's token for credentials of the role that the pool gives: the enhanced flow.
    ///
    /// - Throws: `Token…` errors, `IdentityDisabled`, `RoleNotConfigured`.
    /// - Source: GetCredentialsForIdentity; cognito.md 3.5, 6.1 to 6.4.
    public func get(_ request: CredentialsGet.Params, _ call: any CallContext) throws -> CredentialsGet.Result {
        let now = surroundings.clock.now
        let token = try verifier.verify(request.token, .init(), now: now)
        let (name, role) = try surroundings.database.read { tx -> (String?, Catalogue.KnownRole?) in
            let name = try catalogue.roleName(.authenticated, of: token.poolId, in: tx)
            return (name, try name.flatMap { try catalogue.role($0, in: tx) })
        }
        guard let name else {
            throw RoleNotConfigured(poolId: token.poolId, roleArn: nil, reason: "it has no role for authenticated identities")
        }
        let arn = surroundings.realm.arn(ofRole: name)
        guard let role else { throw RoleNotConfigured(poolId: token.poolId, roleArn: arn, reason: "its role was deleted") }
        let judgement = role.trustPolicy.judge(
            context(of: token, sessionName: Self.sessionName, at: now), tagged: !token.tags.isEmpty)
        if case .refused(let action, let why) = judgement {
            throw RoleNotConfigured(poolId: token.poolId, roleArn: arn, reason: "the role's trust policy does not allow \(action): \(why)")
        }
        let credentials = try issue(
            Session(token: token, roleName: name, name: Self.sessionName, seconds: Self.sessionSeconds), now: now)
        return CredentialsGet.Result(identityId: token.identityId, credentials: credentials, roleArn: arn)
    }
}
