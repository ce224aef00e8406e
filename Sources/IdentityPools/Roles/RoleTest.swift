import Contract
import ServiceContext
import Storage

extension RoleService {
    /// Evaluates a token as `credentials.assumeRole` does, and explains the decision.
    ///
    /// - Throws: `RoleNotFound`.
    public func test(_ request: RoleTest.Params, _ call: any CallContext) throws -> RoleTest.Result {
        try SourceAddress.check(request.sourceIp)
        let now = context.clock.now
        let (name, asked) =
            switch request.role {
            case .name(let name): (name, name)
            case .roleArn(let arn): (try self.name(of: arn), arn)
            }
        let credentials = CredentialsService(context, configurations)
        guard let role = try context.database.read({ try configurations.role(name, in: $0) }) else { throw RoleNotFound(role: asked) }
        let presented: CredentialsService.Presented
        do {
            presented = try credentials.verify(request.token, for: context.realm.arn(ofRole: name), call, now: now)
        } catch let error as any ContractError where (2000...7999).contains(error.code) {
            return RoleTest.Result(
                allowed: false, errorType: Swift.type(of: error).type, reason: error.message, keys: [:], statements: [])
        }
        let facts = CredentialsService.RoleRequest(
            sessionName: request.sessionName, durationSeconds: request.durationSeconds, sourceIp: request.sourceIp)
        let policyContext = credentials.context(of: presented, facts, at: now)
        let caller = credentials.caller(of: presented)
        let judgement = role.trustPolicy.judge(policyContext, credentials.actions(for: presented.holder), of: caller)
        let (type, reason) = Self.refusal(by: judgement, of: role.record, durationSeconds: request.durationSeconds)
        return RoleTest.Result(
            allowed: type == nil, errorType: type, reason: reason, keys: Members(policyContext.all.map { ($0.key, $0.values) }),
            statements: role.trustPolicy.statements.map { $0.finding(in: policyContext, caller) })
    }

    private static func refusal(
        by judgement: TrustPolicy.Judgement, of role: RoleRecord, durationSeconds: Int64
    ) -> (type: String?, reason: String?) {
        if case .refused(let action, let why) = judgement {
            return (AssumeRoleDenied.type, "The trust policy does not allow \(action): \(why).")
        }
        guard durationSeconds <= role.maxSessionSeconds else {
            let error = DurationExceedsRoleMaximum(durationSeconds: durationSeconds, maximumSeconds: role.maxSessionSeconds)
            return (DurationExceedsRoleMaximum.type, error.message)
        }
        return (nil, nil)
    }
}

extension TrustPolicy.Statement {
    /// Explains the evaluation of the statement.
    func finding(in context: PolicyContext, _ caller: TrustPolicy.Caller) -> StatementFinding {
        let findings = conditions.map { condition in
            let actual: [String] =
                switch context[condition.key] {
                case .single(let text): [text]
                case .many(let texts): texts
                case nil: []
                }
            return ConditionFinding(
                operator: condition.name, key: condition.key, expected: condition.values.map(\.text), actual: actual,
                holds: condition.holds(in: context))
        }
        let (isIncluded, isCovered) = (includes(caller), covers(TrustPolicy.assumeAction))
        return StatementFinding(
            pointer: pointer, effect: allows ? .Allow : .Deny, principalMatches: isIncluded, actionMatches: isCovered,
            conditions: findings, applies: isIncluded && isCovered && !isOpen(to: caller) && findings.allSatisfy(\.holds))
    }
}
