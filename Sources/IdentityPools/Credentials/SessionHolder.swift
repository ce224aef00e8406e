import Contract

/// The holder of credentials, with the contents of the pool token that was used or would have been minted.
struct SessionHolder: Sendable {
    let poolId: String
    let identityId: String
    /// The values of the `amr` claim: how the user was authenticated.
    let amr: [String]
    let tags: [(key: String, value: String)]
    /// The public logins of the current call.
    var proofs: [VerifiedLogin] = []
    /// The token of a trusted issuer. The holder then has no identity and no pool.
    var federated: FederatedSource?
    var sourceIdentity: String?
    /// The keys of the tags that a token of a trusted issuer sets as transitive.
    var transitiveTagKeys: [String] = []

    var isGuest: Bool { amr.first == "unauthenticated" }
}

extension SessionHolder {
    init(_ token: WorkloadToken) throws {
        let session = try WorkloadSession(token.claims)
        self.init(poolId: "", identityId: "", amr: [], tags: session.tags)
        federated = FederatedSource(
            issuer: token.issuer.issuer, subject: token.subject, audience: token.audience, tokenId: token.tokenId)
        sourceIdentity = session.sourceIdentity
        transitiveTagKeys = session.transitiveTagKeys
    }

    init(_ token: VerifiedPoolToken) {
        self.init(poolId: token.poolId, identityId: token.identityId, amr: token.amr, tags: token.tags)
    }
}

extension AuthenticationMethods {
    /// The values as a list. The values for a developer provider are contained only in its token.
    var list: [String] {
        switch self {
        case .guest, .developer: ["unauthenticated"]
        case .providers(let providers): ["authenticated"] + providers.flatMap { [$0.name, $0.qualified] }
        }
    }
}
