import JSON

/// How somebody has shown who they are: what a session remembers of it.
struct SignInProof: Sendable, Equatable {
    /// RFC 8176; `fed` for a provider.
    let amr: [String]
    /// `password`, `code`, `anonymous`, `custom`, or a provider.
    let provider: String
    /// Claims of this session's tokens alone.
    var claims = JSONObject()
    /// When that was, nil for now.
    var authenticatedAt: Int64?
    /// What was shown beside the first factor.
    var secondFactor: ShownFactor?

    static let customProvider = "custom"
    static let password = SignInProof(amr: ["pwd"], provider: "password")
    static let code = SignInProof(amr: ["otp"], provider: "code")
    static let anonymous = SignInProof(amr: [], provider: "anonymous")

    static func provider(_ id: String) -> SignInProof { SignInProof(amr: ["fed"], provider: id) }

    static func custom(_ claims: JSONObject) -> SignInProof { SignInProof(amr: [], provider: customProvider, claims: claims) }
}
