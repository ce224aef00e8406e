import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys
import Storage

/// Tokens with which sessions of temporary credentials authenticate at other services (AWS IAM User Guide, "Outbound identity
/// federation"). The account of the store signs them.
public struct OutboundTokens: Sendable {
    private let context: ServiceContext
    private let configurations: PoolConfigurationCache
    private let signingKeys: SigningKeys

    /// The maximum length of the claims, in bytes. AWS has such a limit and does not publish it.
    private static let maximumBytes = 8192
    /// The fact of the store that permits the tokens.
    private static let fact = "outboundFederation"
    /// The claim that contains the facts about the session.
    private static let claim = "https://sts.amazonaws.com/"

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache) {
        self.context = context
        self.configurations = configurations
        signingKeys = configurations.signingKeys
    }

    private var owner: KeyOwner { .account(context.realm.account) }
    public var issuer: String { context.realm.issuer(of: owner) }

    // MARK: Permission

    public func isEnabled() throws -> Bool { try context.database.read { try Self.isEnabled(in: $0) } }

    private static func isEnabled(in tx: Transaction) throws -> Bool { try tx.storeFact(fact) == "true" }

    /// Permits or forbids the tokens. The first permission creates the keys.
    ///
    /// - Parameter method: The name of the calling method or operation.
    /// - Returns: Whether anything has changed.
    @discardableResult
    public func setEnabled(_ isEnabled: Bool, by method: String, _ call: any CallContext) throws -> Bool {
        let now = context.clock.now
        if isEnabled { try AccountKeys.create(signingKeys, context, at: now) }
        return try context.database.write { tx in
            try tx.lock([owner.path])
            guard try Self.isEnabled(in: tx) != isEnabled else { return false }
            try tx.setStoreFact(Self.fact, isEnabled ? "true" : nil)
            let details: JSONObject = ["enabled": .bool(isEnabled)]
            try context.audit.record(
                AuditEvent(method: method, by: call, poolId: nil, subject: context.realm.account, details: details), at: now, in: tx)
            return true
        }
    }

    // MARK: Tokens

    /// The request for a token.
    public struct Request: Sendable {
        let audience: [String]
        let algorithm: Crypto.SigningAlgorithm
        let durationSeconds: Int64
        let tags: Members<String>

        public init(audience: [String], algorithm: String, durationSeconds: Int64, tags: Members<String>) {
            self.audience = audience
            self.algorithm = algorithm == "RS256" ? .RS256 : .ES384
            self.durationSeconds = durationSeconds
            self.tags = tags
        }
    }

    /// Returns a token for the session of verified credentials.
    ///
    /// - Throws: `OutboundFederationDisabled`, `SessionDurationEscalation`, `TokenPayloadTooLarge`, `InvalidParams`.
    public func mint(
        _ request: Request, for session: CredentialsVerify.Result, by method: String, _ call: any CallContext
    ) throws -> (token: String, expiresAt: Int64) {
        let now = context.clock.now
        let violations = ResourceTags.violations(request.tags, at: "/tags")
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
        let expiresAt = now + request.durationSeconds
        let (isEnabled, ring) = try context.database.read { tx in
            (try Self.isEnabled(in: tx), try signingKeys.ring(of: owner, in: tx))
        }
        guard isEnabled, let key = ring.active(request.algorithm, at: now) else { throw OutboundFederationDisabled() }
        if expiresAt > session.expiresAt {
            throw SessionDurationEscalation(
                expiresAt: expiresAt, sessionExpiresAt: session.expiresAt, maximumSeconds: max(0, session.expiresAt - now))
        }
        let id = context.random.uuid()
        let payload = claims(request, session, id, from: now, until: expiresAt)
        if payload.count > Self.maximumBytes {
            throw TokenPayloadTooLarge(bytes: Int64(payload.count), maximum: Int64(Self.maximumBytes))
        }
        let details: JSONObject = [
            "tokenId": .string(id), "accessKeyId": .string(session.principal.accessKeyId),
            "audience": .array(request.audience.map { .string($0) }),
        ]
        try context.database.write { tx in
            try context.audit.record(
                AuditEvent(
                    method: method, by: call, poolId: session.principal.poolId, subject: session.principal.roleArn, details: details
                ).about(identityId: session.principal.identityId), at: now, in: tx)
        }
        return (try key.signer.sign(payload), expiresAt)
    }

    private func claims(
        _ request: Request, _ session: CredentialsVerify.Result, _ id: String, from now: Int64, until expiresAt: Int64
    ) -> [UInt8] {
        func object(_ tags: Members<String>) -> JSONValue {
            var object = JSONObject()
            for tag in tags { object[tag.name] = .string(tag.value) }
            return .object(object)
        }
        var facts: JSONObject = [
            "aws_account": .string(context.realm.account), "source_region": .string(context.realm.region),
            "original_session_exp": .string(PolicyDate.text(session.expiresAt)),
        ]
        if !session.principal.tags.isEmpty { facts["principal_tags"] = object(session.principal.tags) }
        if !request.tags.isEmpty { facts["request_tags"] = object(request.tags) }
        let claims: JSONObject = [
            "iss": .string(issuer),
            "aud": request.audience.count == 1 ? .string(request.audience[0]) : .array(request.audience.map { .string($0) }),
            "sub": .string(session.principal.roleArn), "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(expiresAt)),
            "jti": .string(id), Self.claim: .object(facts),
        ]
        return JSONValue.object(claims).bytes
    }
}
