import Contract
import Crypto
import JSON
import ServiceContext

/// The state of a sign-in after its first factor, stored until the sign-in completes.
struct PendingSignIn: Sendable, Equatable {
    var proof: SignInProof
    /// The audience of the access token.
    var audience: String?
    /// The requested scope of the access token.
    var scope: String?
    /// The application in which the user signs in; `nil` for the default application of the tenant.
    var application: ApplicationName?
    /// The parts of the flow that the application can carry out, for the flow of a second factor.
    var accepts: [FlowCapability]?
    var isNew = false
    /// The identity at the provider, for a federated sign-in.
    var identity: ProviderIdentity?
    var returnsProviderTokens = false
    /// Whether to link the login of `identity` to the account after the second factor was verified.
    var awaitsLink = false
    /// The number of wrong passwords and codes before the sign-in.
    var failures: Int64 = 0

    /// The authentication contexts that the sign-in was asked for.
    var contexts: [String] = []
    /// Whether all factors are verified, and the tokens wait for `signIn.withContinuation`.
    var isDeferred = false

    /// Whether the account has not been changed since it was read in the same transaction, so that only the time of the sign-in is written.
    var isAccountStored = false

    /// Whether the user gets a notice about the failures.
    var isAfterFailures: Bool { failures >= NoticeRule.tellingFailures }

    init(
        _ proof: SignInProof, audience: String?, scope: String? = nil, isNew: Bool = false, identity: ProviderIdentity? = nil,
        returnsProviderTokens: Bool = false
    ) {
        self.proof = proof
        self.audience = audience
        self.scope = scope
        self.isNew = isNew
        self.identity = identity
        self.returnsProviderTokens = returnsProviderTokens
    }

    /// Adopts the audience and the scopes of a session.
    mutating func take(_ grant: AccessGrant) {
        audience = grant.audience
        application = grant.application
        scope = grant.scopes.text
    }

    /// Encrypts the state for storage with its flow.
    func sealed(in flow: String, _ vault: Vault) -> [UInt8] {
        var object: JSONObject = [
            "amr": .array(proof.amr.map { .string($0) }), "provider": .string(proof.provider), "claims": .object(proof.claims),
            "isNew": .bool(isNew), "returnsProviderTokens": .bool(returnsProviderTokens),
            "awaitsLink": .bool(awaitsLink),
        ]
        if failures > 0 { object["failures"] = .number(JSONNumber(failures)) }
        object["audience"] = audience.map { .string($0) }
        object["scope"] = scope.map { .string($0) }
        if let application { object["application"] = ["id": .string(application.id), "clientId": .string(application.clientId)] }
        object["passkeyId"] = proof.passkeyId.map { .string($0) }
        object["authenticatedAt"] = proof.authenticatedAt.map { .number(JSONNumber($0)) }
        if let factor = proof.secondFactor {
            object["secondFactor"] = ["kind": .string(factor.kind), "factorId": .string(factor.factorId)]
        }
        if !contexts.isEmpty { object["contexts"] = .array(contexts.map { .string($0) }) }
        if isDeferred { object["isDeferred"] = .bool(true) }
        object["acr"] = proof.acr.map { .string($0) }
        object["identity"] = identity.map { .object($0.object) }
        return vault.seal(SecretBytes(JSONValue.object(object).bytes), as: Self.sealName(flow))
    }

    /// - Throws: `SealBroken`.
    init(_ sealed: [UInt8], of flow: String, _ vault: Vault) throws {
        let object = (try? JSONValue(parsing: try vault.open(sealed, as: Self.sealName(flow)).copy()))?.object ?? [:]
        guard let provider = object["provider"]?.string else { throw SealBroken(name: Self.sealName(flow)) }
        proof = SignInProof(
            amr: object["amr"]?.array?.compactMap(\.string) ?? [], provider: provider, claims: object["claims"]?.object ?? [:])
        proof.passkeyId = object["passkeyId"]?.string
        proof.authenticatedAt = object["authenticatedAt"]?.int
        if let factor = object["secondFactor"]?.object, let kind = factor["kind"]?.string, let id = factor["factorId"]?.string {
            proof.secondFactor = VerifiedFactor(kind: kind, factorId: id)
        }
        contexts = object["contexts"]?.array?.compactMap(\.string) ?? []
        isDeferred = object["isDeferred"]?.bool ?? false
        proof.acr = object["acr"]?.string
        failures = object["failures"]?.int ?? 0
        audience = object["audience"]?.string
        scope = object["scope"]?.string
        if let name = object["application"]?.object, let id = name["id"]?.string, let clientId = name["clientId"]?.string {
            application = ApplicationName(id: id, clientId: clientId)
        }
        isNew = object["isNew"]?.bool ?? false
        identity = object["identity"]?.object.flatMap(ProviderIdentity.init)
        returnsProviderTokens = object["returnsProviderTokens"]?.bool ?? false
        awaitsLink = object["awaitsLink"]?.bool ?? false
    }

    private static func sealName(_ flow: String) -> String { "pending sign-in \(flow)" }
}
