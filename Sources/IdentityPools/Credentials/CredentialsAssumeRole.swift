import Contract
import JSON
import ServiceContext

extension CredentialsService {
    /// Exchanges the token of a pool or of a trusted issuer for credentials of a given role.
    ///
    /// - Throws: `Token…` errors, `ProviderUnavailable`, `ProviderUnusable`, `AssumeRoleDenied`, `DurationExceedsRoleMaximum`,
    ///   `MalformedPolicy`, `PackedPolicyTooLarge`.
    /// - Source: AWS STS API Reference, `AssumeRoleWithWebIdentity`.
    public func assumeRole(_ request: CredentialsAssumeRole.Params, _ call: any CallContext) throws -> CredentialsAssumeRole.Result {
        try SourceAddress.check(request.sourceIp)
        let now = context.clock.now
        let presented = try verify(request.token, for: request.roleArn, call, now: now)
        let holder = presented.holder
        guard let role = presented.role, let issuing = presented.issuing else {
            throw AssumeRoleDenied(roleArn: request.roleArn, action: TrustPolicy.assumeAction)
        }
        // Only callers that the trust policy admits learn the limits of the role.
        if presented.workload != nil { try judge(presented, role, request, now: now) }
        guard request.durationSeconds <= role.record.maxSessionSeconds else {
            throw DurationExceedsRoleMaximum(durationSeconds: request.durationSeconds, maximumSeconds: role.record.maxSessionSeconds)
        }
        let policy = try request.policy.map { try sessionPolicy($0) }
        let percent = try packedPercent(policy, holder)
        if presented.workload == nil { try judge(presented, role, request, now: now) }
        if let mark = presented.workload.flatMap({ UsedWorkloadToken($0) }) { try context.database.write { try mark.use(in: $0) } }

        let credentials = issue(
            Session(
                holder: holder, roleName: role.record.name, name: request.sessionName, seconds: request.durationSeconds, policy: policy),
            issuing, now: now)
        return CredentialsAssumeRole.Result(
            credentials: credentials, subject: holder.federated?.subject ?? holder.identityId,
            audience: holder.federated?.audience ?? holder.poolId,
            provider: presented.workload?.issuer.federatedProvider ?? TrustPolicy.federatedPrincipal,
            sourceIdentity: holder.sourceIdentity,
            assumedRole: .init(
                arn: context.realm.arn(ofSession: request.sessionName, role: role.record.name),
                id: "\(role.record.roleId):\(request.sessionName)"),
            packedPolicyPercent: percent)
    }

    /// - Throws: `AssumeRoleDenied`.
    private func judge(
        _ presented: Presented, _ role: PoolConfigurationCache.KnownRole, _ request: CredentialsAssumeRole.Params, now: Int64
    ) throws {
        let facts = RoleRequest(sessionName: request.sessionName, durationSeconds: request.durationSeconds, sourceIp: request.sourceIp)
        let judgement = role.trustPolicy.judge(
            context(of: presented, facts, at: now), actions(for: presented.holder), of: caller(of: presented))
        if case .refused(let action, _) = judgement { throw AssumeRoleDenied(roleArn: request.roleArn, action: action) }
    }

    private func sessionPolicy(_ given: JSONObject) throws -> String {
        let text = JSONValue.object(given).text
        do { try SessionPolicy.check(text) } catch let error as PolicyMalformed {
            throw MalformedPolicy(policy: .session, pointer: error.pointer, reason: error.reason)
        }
        return text
    }

    /// Returns the used percentage of the space for policy and tags, or `nil` if there are neither.
    private func packedPercent(_ policy: String?, _ holder: SessionHolder) throws -> Int64? {
        if policy == nil, holder.tags.isEmpty { return nil }
        let percent = PackedPolicy.percent(policy: policy, tags: holder.tags)
        if percent > 100 { throw PackedPolicyTooLarge(percent: Int64(percent)) }
        return Int64(percent)
    }
}
