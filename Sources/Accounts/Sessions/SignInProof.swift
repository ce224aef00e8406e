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
    /// The credential ID of the passkey that began the session, if any.
    var passkeyId: String?

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

    package static let passkeyProvider = "passkey"

    /// - Parameter isVerified: Whether the authenticator verified the user, so that the passkey is two factors.
    static func passkey(_ passkey: PasskeyRecord, isVerified: Bool) -> SignInProof {
        // A synchronized passkey is no single piece of hardware.
        let amr = [passkey.isBackupEligible ? "swk" : "hwk", "user"] + (isVerified ? ["mfa"] : [])
        var proof = SignInProof(amr: amr, provider: passkeyProvider)
        proof.passkeyId = passkey.id
        return proof
    }

    static func provider(_ id: String) -> SignInProof { SignInProof(amr: ["fed"], provider: id) }

    static func custom(_ claims: JSONObject) -> SignInProof { SignInProof(amr: [], provider: customProvider, claims: claims) }
}

/// What the authentication methods of a session tell about passkeys (RFC 8176 section 2).
enum PasskeyMethods {
    static func usedPasskey(_ amr: [String]) -> Bool { amr.contains("hwk") || amr.contains("swk") }

    /// Whether the session began with a passkey and verification of the user, which are two factors.
    static func areTwoFactors(_ amr: [String]) -> Bool { usedPasskey(amr) && amr.contains("user") && amr.contains("mfa") }
}
