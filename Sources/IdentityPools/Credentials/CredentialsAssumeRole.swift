import Contract
import JSON
import ServiceContext

extension CredentialsService {
    /// Exchanges a token of the pool for credentials of a given role, as in the basic flow.
    ///
    /// - Throws: `Token…` errors, `AssumeRoleDenied`, `DurationExceedsRoleMaximum`, `MalformedPolicy`, `PackedPolicyTooLarge`.
    /// - Source: AWS STS API Reference, `AssumeRoleWithWebIdentity`.
    public func assumeRole(_ request: CredentialsAssumeRole.Params, _ call: any CallContext) throws -> CredentialsAssumeRole.Result {
        let now = context.clock.now
        let (holder, found) = try context.database.read { tx in
            let holder = SessionHolder(try verifier.verify(request.token, now: now, in: tx))
            let role = try context.realm.roleName(of: request.roleArn).flatMap { try configurations.role($0, in: tx) }
            return (holder, try role.map { ($0, try issuing(to: holder, roleName: $0.record.name, now: now, in: tx)) })
        }
        guard let (role, issuing) = found else { throw AssumeRoleDenied(roleArn: request.roleArn, action: "sts:AssumeRoleWithWebIdentity") }
        guard request.durationSeconds <= role.record.maxSessionSeconds else {
            throw DurationExceedsRoleMaximum(durationSeconds: request.durationSeconds, maximumSeconds: role.record.maxSessionSeconds)
        }
        let policy = try request.policy.map { try sessionPolicy($0) }
        let percent = try packedPercent(policy, holder)
        let judgement = role.trustPolicy.judge(
            context(of: holder, sessionName: request.sessionName, at: now), tagged: !holder.tags.isEmpty)
        if case .refused(let action, _) = judgement { throw AssumeRoleDenied(roleArn: request.roleArn, action: action) }

        let credentials = issue(
            Session(
                holder: holder, roleName: role.record.name, name: request.sessionName, seconds: request.durationSeconds, policy: policy),
            issuing, now: now)
        return CredentialsAssumeRole.Result(
            credentials: credentials, subject: holder.identityId, audience: holder.poolId, provider: "cognito-identity.amazonaws.com",
            assumedRole: .init(
                arn: context.realm.arn(ofSession: request.sessionName, role: role.record.name),
                id: "\(role.record.roleId):\(request.sessionName)"),
            packedPolicyPercent: percent)
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
