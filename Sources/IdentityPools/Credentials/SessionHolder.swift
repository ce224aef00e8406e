/// Whom credentials are for: what a pool's token says, or would say if one were minted on the way.
struct SessionHolder: Sendable {
    let poolId: String
    let identityId: String
    /// How the user was authenticated (cognito.md 5.3).
    let amr: [String]
    let tags: [(key: String, value: String)]
    /// The public logins of this very call.
    var proofs: [LoginProof] = []

    var isGuest: Bool { amr.first == "unauthenticated" }
}

extension SessionHolder {
    init(_ token: VerifiedPoolToken) {
        self.init(poolId: token.poolId, identityId: token.identityId, amr: token.amr, tags: token.tags)
    }
}

extension AuthenticationMethods {
    /// The elements as a list; a developer's stand in its token only.
    var list: [String] {
        switch self {
        case .guest, .developer: ["unauthenticated"]
        case .providers(let providers): ["authenticated"] + providers.flatMap { [$0.name, $0.qualified] }
        }
    }
}
