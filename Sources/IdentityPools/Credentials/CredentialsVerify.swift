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
        case .sessionToken(let token): return answer(try open(token, now: now).0, bodyVerified: false)
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
            let (claims, sealer) = try open(token, now: now)
            guard claims.accessKeyId == parsed.accessKeyId else { throw SessionTokenInvalid() }
            let verdict = try SignatureV4.judge(
                parsed, secret: sealer.secretAccessKey(for: token), now: now, service: request.service, region: request.region)
            return answer(claims, bodyVerified: verdict.bodyVerified)
        } catch let failure as SignatureV4Failure { throw failure.answer(now: now) }
    }

    /// Decrypts a session token and checks that it has neither expired nor been revoked.
    func open(_ token: String, now: Int64) throws -> (SessionClaims, SessionSealer) {
        let (sealer, revocations) = try context.database.read { tx in
            (try configurations.sessionKeys.key(of: token, in: tx), try configurations.revocations(in: tx))
        }
        guard let sealer, let claims = sealer.open(token) else { throw SessionTokenInvalid() }
        if claims.expiresAt <= now { throw CredentialsExpired(expiredAt: claims.expiresAt, now: now) }
        let targets =
            [Revocations.Target(kind: .sessionToken, subject: claims.accessKeyId)]
            + self.targets(identityId: claims.identityId, poolId: claims.poolId, roleName: claims.roleName)
        try revocations.check(targets, issuedAt: claims.issuedAt)
        return (claims, sealer)
    }

    private func answer(_ claims: SessionClaims, bodyVerified: Bool) -> CredentialsVerify.Result {
        CredentialsVerify.Result(
            principal: Principal(
                identityId: claims.identityId, poolId: claims.poolId, roleArn: context.realm.arn(ofRole: claims.roleName),
                sessionName: claims.sessionName, accessKeyId: claims.accessKeyId, tags: Members(claims.tags.map { ($0.key, $0.value) })),
            expiresAt: claims.expiresAt, bodyVerified: bodyVerified,
            sessionPolicy: claims.policy.map { EncodedObject(encoded: Array(($0 == GuestScope.mark ? GuestScope.policy : $0).utf8)) })
    }
}
