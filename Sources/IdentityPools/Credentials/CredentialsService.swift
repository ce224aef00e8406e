import Contract
import Platform
import ServiceContext
import Storage

/// Temporary credentials: `credentials.*`.
public struct CredentialsService: Sendable {
    let surroundings: ServiceContext
    let catalogue: PoolConfigurationCache

    public init(_ surroundings: ServiceContext, _ catalogue: PoolConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
    }

    var verifier: PoolTokenVerifier { PoolTokenVerifier(surroundings: surroundings, catalogue: catalogue) }

    /// A session as `issue` makes it.
    struct Session {
        let holder: SessionHolder
        let roleName: String
        let name: String
        let seconds: Int64
        var policy: String?
    }

    /// Makes credentials for a session that was decided upon. Nothing is stored.
    func issue(_ session: Session, now: Int64) throws -> Contract.Credentials {
        let holder = session.holder
        let (sealer, issuedAt) = try surroundings.database.read { tx in
            let targets = targets(identityId: holder.identityId, poolId: holder.poolId, roleName: session.roleName)
            return (
                try catalogue.sessionKeys.current(in: tx), try catalogue.revocations(in: tx).issueMoment(targets, now: now)
            )
        }
        let claims = SessionClaims(
            accessKeyId: "ASIA" + Base32.encode(surroundings.random.bytes(10)), identityId: holder.identityId, poolId: holder.poolId,
            roleName: session.roleName, sessionName: session.name, tags: holder.tags, policy: session.policy, issuedAt: issuedAt,
            expiresAt: now + session.seconds)
        let sessionToken = sealer.seal(claims, random: surroundings.random)
        return Contract.Credentials(
            accessKeyId: claims.accessKeyId, secretAccessKey: sealer.secretAccessKey(for: sessionToken), sessionToken: sessionToken,
            expiresAt: claims.expiresAt)
    }

    /// Everything by which credentials can be revoked, but for the session itself.
    func targets(identityId: String, poolId: String, roleName: String) -> [Revocations.Target] {
        let realm = surroundings.realm
        // What was revoked by an ARN of an earlier version stays revoked.
        let arns = Set([realm.arn(ofRole: roleName), realm.formerARN(ofRole: roleName)])
        return [.init(kind: .identityId, subject: identityId), .init(kind: .poolId, subject: poolId)]
            + arns.map { .init(kind: .roleArn, subject: $0) }
    }

    /// What a trust policy may ask about a call with `token` (cognito.md 6.4; the time as IAM's global condition keys
    /// have it).
    func context(of holder: SessionHolder, sessionName: String, at now: Int64) -> PolicyContext {
        var context = PolicyContext()
        context.set("cognito-identity.amazonaws.com:aud", holder.poolId)
        context.set("cognito-identity.amazonaws.com:sub", holder.identityId)
        context.set("cognito-identity.amazonaws.com:amr", many: holder.amr)
        context.set("sts:RoleSessionName", sessionName)
        context.set("aws:CurrentTime", PolicyDate.text(now))
        context.set("aws:EpochTime", String(now))
        for tag in holder.tags { context.set("aws:RequestTag/\(tag.key)", tag.value) }
        if !holder.tags.isEmpty { context.set("aws:TagKeys", many: holder.tags.map(\.key)) }
        return context
    }
}

extension CredentialsService: CredentialsHandlers {}
