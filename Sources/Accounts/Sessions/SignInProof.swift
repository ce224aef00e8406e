import JSON

/// The evidence of a sign-in, as it is stored with the session.
package struct SignInProof: Sendable, Equatable {
    /// The authentication methods of RFC 8176; `fed` for an identity provider.
    package let amr: [String]
    /// The sign-in provider: `password`, `code`, `anonymous`, `custom`, or the ID of an identity provider.
    package let provider: String
    /// Claims that only the tokens of this session contain.
    package var claims = JSONObject()
    /// The time of the sign-in, or `nil` for the current time.
    package var authenticatedAt: Int64?
    /// The second factor that was verified, if any.
    package var secondFactor: VerifiedFactor?

    package init(
        amr: [String], provider: String, claims: JSONObject = JSONObject(), authenticatedAt: Int64? = nil,
        secondFactor: VerifiedFactor? = nil
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
