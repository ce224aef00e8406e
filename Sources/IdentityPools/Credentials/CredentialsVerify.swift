import Contract
import ServiceContext
import Storage

extension CredentialsService {
    /// Verifies a Signature Version 4 with its session token, or a session token alone.
    ///
    /// - Throws: `SignatureMalformed`, `SessionTokenInvalid`, `CredentialsExpired`, `CredentialsRevoked`, `SignatureMismatch`,
    ///   `CredentialScopeMismatch`, `BodyHashMismatch`, `RequestExpired`, `RequestTimeTooSkewed`.
    /// - Source: AWS IAM User Guide, AWS Signature Version 4.
    public func verify(_ request: CredentialsVerify.Params, _ call: any CallContext) throws -> CredentialsVerify.Result {
        let now = context.clock.now
        switch request.proof {
        case .sessionToken(let token): return answer(try open(token, now: now), bodyVerified: false)
        case .request(let signed): return try verify(signed, request, now: now)
        }
    }

    private func verify(_ signed: SignedRequest, _ request: CredentialsVerify.Params, now: Int64) throws -> CredentialsVerify.Result {
        do {
            let parsed = try SignatureV4.parse(
                method: signed.method, url: signed.url, headers: signed.headers.map { ($0.name, $0.value) }, bodySha256: signed.bodySha256)
            guard let token = parsed.sessionToken else {
                throw SignatureMalformed(reason: "X-Amz-Security-Token is missing. Temporary credentials require a session token")
            }
            let opened = try open(token, now: now)
            let (claims, sealer) = (opened.claims, opened.sealer)
            guard claims.accessKeyId == parsed.accessKeyId else { throw SessionTokenInvalid() }
            let verdict = try SignatureV4.judge(
                parsed, secret: sealer.secretAccessKey(for: token), now: now, service: request.service, region: request.region)
            return answer(opened, bodyVerified: verdict.bodyVerified)
        } catch let failure as SignatureV4Failure { throw failure.answer(now: now) }
    }

    /// A decrypted session token.
    struct Opened {
        let claims: SessionClaims
        let sealer: SessionSealer
        let policies: RolePolicySet
    }

    /// Decrypts a session token and checks that it has neither expired nor been revoked.
    func open(_ token: String, now: Int64) throws -> Opened {
        let (opened, revocations) = try context.database.read { tx -> (Opened?, Revocations) in
            let revocations = try configurations.revocations(in: tx)
            guard let sealer = try configurations.sessionKeys.key(of: token, in: tx), let claims = sealer.open(token) else {
                return (nil, revocations)
            }
            let policies = try configurations.policies(ofRole: claims.roleName, in: tx)
            return (Opened(claims: claims, sealer: sealer, policies: policies), revocations)
        }
        guard let opened else { throw SessionTokenInvalid() }
        let claims = opened.claims
        if claims.expiresAt <= now { throw CredentialsExpired(expiredAt: claims.expiresAt, now: now) }
        let targets =
            [Revocations.Target(kind: .sessionToken, subject: claims.accessKeyId)]
            + self.targets(claims.identityId, claims.poolId, claims.federated, roleName: claims.roleName)
        try revocations.check(targets, issuedAt: claims.issuedAt)
        return opened
    }

    private func answer(_ opened: Opened, bodyVerified: Bool) -> CredentialsVerify.Result {
        let claims = opened.claims
        let isOfPool = claims.federated == nil
        return CredentialsVerify.Result(
            principal: Principal(
                identityId: isOfPool ? claims.identityId : nil, poolId: isOfPool ? claims.poolId : nil,
                roleArn: context.realm.arn(ofRole: claims.roleName),
                sessionName: claims.sessionName, accessKeyId: claims.accessKeyId, tags: Members(claims.tags.map { ($0.key, $0.value) })),
            federated: claims.federated, sourceIdentity: claims.sourceIdentity, rolePolicies: opened.policies.answer,
            expiresAt: claims.expiresAt, bodyVerified: bodyVerified,
            sessionPolicy: claims.policy.map { EncodedObject(encoded: Array(($0 == GuestScope.mark ? GuestScope.policy : $0).utf8)) })
    }
}
