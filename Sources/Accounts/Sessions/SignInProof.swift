import JSON

/// How somebody has shown who they are: what a session remembers of it.
package struct SignInProof: Sendable, Equatable {
    /// RFC 8176; `fed` for a provider.
    package let amr: [String]
    /// `password`, `code`, `anonymous`, `custom`, or a provider.
    package let provider: String
    /// Claims of this session's tokens alone.
    package var claims = JSONObject()
    /// When that was, nil for now.
    package var authenticatedAt: Int64?
    /// What was shown beside the first factor.
    package var secondFactor: ShownFactor?

    package init(
        amr: [String], provider: String, claims: JSONObject = JSONObject(), authenticatedAt: Int64? = nil, secondFactor: ShownFactor? = nil
    ) {
        self.amr = amr
        self.provider = provider
        self.claims = claims
        self.authenticatedAt = authenticatedAt
        self.secondFactor = secondFactor
    }

    package static let customProvider = "custom"
    package static let password = SignInProof(amr: ["pwd"], provider: "password")
    static let code = SignInProof(amr: ["otp"], provider: "code")
    static let anonymous = SignInProof(amr: [], provider: "anonymous")

    static func provider(_ id: String) -> SignInProof { SignInProof(amr: ["fed"], provider: id) }

    static func custom(_ claims: JSONObject) -> SignInProof { SignInProof(amr: [], provider: customProvider, claims: claims) }
}
