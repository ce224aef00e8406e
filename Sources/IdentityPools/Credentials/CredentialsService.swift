import Contract
import Platform
import ServiceContext
import Storage

/// The `credentials.*` methods, for temporary credentials.
public struct CredentialsService: Sendable {
    var context: ServiceContext
    let configurations: PoolConfigurationCache

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
    }

    var verifier: PoolTokenVerifier { PoolTokenVerifier(context: context, configurations: configurations) }

    /// The session for which `issue` creates credentials.
    struct Session {
        let holder: SessionHolder
        let roleName: String
        let name: String
        let seconds: Int64
        var policy: String?
    }

    /// The data that the store adds to the credentials of a session.
    struct Issuing {
        let sealer: SessionSealer
        /// The time of issue, after every revocation that applies to the session.
        let issuedAt: Int64
    }

    func issuing(to holder: SessionHolder, roleName: String, now: Int64, in tx: Transaction) throws -> Issuing {
        let targets = targets(holder.identityId, holder.poolId, holder.federated, roleName: roleName)
        return Issuing(
            sealer: try configurations.sessionKeys.current(in: tx),
            issuedAt: try configurations.revocations(in: tx).issueMoment(targets, now: now))
    }

    /// Creates credentials for an authorized session. Nothing is stored. Must not be called inside a transaction.
    func issue(_ session: Session, _ issuing: Issuing, now: Int64) -> Contract.Credentials {
        let (holder, sealer) = (session.holder, issuing.sealer)
        let claims = SessionClaims(
            accessKeyId: "ASIA" + Base32.encode(context.random.bytes(10)), identityId: holder.identityId, poolId: holder.poolId,
            roleName: session.roleName, sessionName: session.name, tags: holder.tags, federated: holder.federated,
            sourceIdentity: holder.sourceIdentity, policy: session.policy, issuedAt: issuing.issuedAt, expiresAt: now + session.seconds)
        let sessionToken = sealer.seal(claims, random: context.random)
        return Contract.Credentials(
            accessKeyId: claims.accessKeyId, secretAccessKey: sealer.secretAccessKey(for: sessionToken), sessionToken: sessionToken,
            expiresAt: claims.expiresAt)
    }

    /// Returns the targets by which the credentials can be revoked, except the session itself.
    func targets(
        _ identityId: String, _ poolId: String, _ federated: FederatedSource?, roleName: String
    ) -> [Revocations.Target] {
        let realm = context.realm
        // Revocations by an ARN in the format of earlier versions remain valid.
        let arns = Set([realm.arn(ofRole: roleName), realm.formerARN(ofRole: roleName)])
        let source =
            federated.map { Revocations.Target.of($0.issuer, $0.subject) }
            ?? [.init(kind: .identityId, subject: identityId), .init(kind: .poolId, subject: poolId)]
        return source + arns.map { .init(kind: .roleArn, subject: $0) }
    }

    /// Returns the condition keys of a trust policy for a call, including the time as in IAM's global condition keys.
    func context(of holder: SessionHolder, sessionName: String, at now: Int64) -> PolicyContext {
        var context = PolicyContext(at: now)
        context.set("cognito-identity.amazonaws.com:aud", holder.poolId)
        context.set("cognito-identity.amazonaws.com:sub", holder.identityId)
        context.set("cognito-identity.amazonaws.com:amr", many: holder.amr)
        context.set("aws:FederatedProvider", TrustPolicy.federatedPrincipal)
        context.set("sts:RoleSessionName", sessionName)
        for tag in holder.tags { context.set("aws:RequestTag/\(tag.key)", tag.value) }
        if !holder.tags.isEmpty { context.set("aws:TagKeys", many: holder.tags.map(\.key)) }
        return context
    }
}

extension CredentialsService: CredentialsHandlers {
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}
