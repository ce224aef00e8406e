import Contract
import ServiceContext

extension CredentialsService {
    /// The maximum lifetime of credentials and of the tokens that are exchanged for them, in seconds.
    private static let longestSeconds: Int64 = 86_400

    /// Revokes the credentials of a session, identity, role or pool that were issued up to a given time. A revocation by identity or pool
    /// also applies to the tokens that can be exchanged for new credentials.
    ///
    /// - Throws: `SessionTokenInvalid`, `IdentityNotFound`, `RoleNotFound`, `PoolNotFound`.
    /// - Source: AWS IAM User Guide, revoking temporary security credentials of a role by their issue time.
    public func revoke(_ request: CredentialsRevoke.Params, _ call: any CallContext) throws -> CredentialsRevoke.Result {
        let now = context.clock.now
        let issuedBefore = request.issuedBefore ?? now
        let target = try target(of: request)
        if request.subject != nil, target.kind != .issuerSubject {
            throw InvalidParams(
                violations: [Violation(pointer: "/subject", rule: "dependency", message: "subject is only allowed together with issuer.")])
        }
        let record = try context.database.write { tx in
            let poolId = target.kind == .poolId ? target.subject : nil
            let identityId = target.kind == .identityId ? target.subject : nil
            if let poolId, try tx.pool(poolId) == nil { throw PoolNotFound(poolId: poolId) }
            let identity = try identityId.flatMap { try tx.identity($0) }
            if let identityId, identity == nil { throw IdentityNotFound(identityId: identityId) }
            let record = try tx.record(
                RevocationRecord(
                    target: target, issuedBefore: issuedBefore, createdAt: now, expiresAt: max(now, issuedBefore) + Self.longestSeconds))
            try context.audit.record(
                AuditEvent(
                    method: CredentialsRevoke.info.name, by: call, poolId: poolId ?? identity?.poolId, subject: target.subject,
                    details: ["issuedBefore": .number(.init(record.issuedBefore))]
                ).about(identityId: identityId), at: now, in: tx)
            return record
        }
        return Revocation(
            kind: target.kind, subject: target.subject, issuedBefore: record.issuedBefore, createdAt: record.createdAt,
            expiresAt: record.expiresAt)
    }

    private func target(of request: CredentialsRevoke.Params) throws -> Revocations.Target {
        switch request.target {
        case .sessionToken(let token):
            let sealer = try context.database.read { try configurations.sessionKeys.key(of: token, in: $0) }
            guard let claims = sealer?.open(token) else { throw SessionTokenInvalid() }
            return .init(kind: .sessionToken, subject: claims.accessKeyId)
        case .identityId(let id): return .init(kind: .identityId, subject: id)
        case .poolId(let id): return .init(kind: .poolId, subject: id)
        case .roleArn(let arn):
            let name = context.realm.roleName(of: arn)
            guard let name, try context.database.read({ try $0.role(name) }) != nil else { throw RoleNotFound(role: arn) }
            return .init(kind: .roleArn, subject: context.realm.arn(ofRole: name))
        case .roleName(let name):
            guard try context.database.read({ try $0.role(name) }) != nil else { throw RoleNotFound(role: name) }
            return .init(kind: .roleArn, subject: context.realm.arn(ofRole: name))
        case .issuer(let issuer):
            // A deleted issuer can be revoked too: its credentials stay valid.
            return request.subject.map { .init(kind: .issuerSubject, subject: "\(issuer)#\($0)") }
                ?? .init(kind: .issuer, subject: issuer)
        }
    }
}
