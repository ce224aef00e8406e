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
    /// The strength of the passkey that was used (OpenID Connect EAP ACR Values 1.0), if any.
    var acr: String?

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
    package static let phoneProvider = "phone"
    static let phone = SignInProof(amr: ["sms"], provider: phoneProvider)
    static let anonymous = SignInProof(amr: [], provider: "anonymous")

    package static let passkeyProvider = "passkey"

    /// - Parameter isVerified: Whether the authenticator verified the user, so that the passkey is two factors.
    static func passkey(_ passkey: PasskeyRecord, isVerified: Bool) -> SignInProof {
        var proof = SignInProof(amr: PasskeyMethods.methods(of: passkey) + (isVerified ? ["mfa"] : []), provider: passkeyProvider)
        proof.passkeyId = passkey.id
        proof.acr = PasskeyMethods.strength(of: passkey)
        return proof
    }

    static func provider(_ id: String) -> SignInProof { SignInProof(amr: ["fed"], provider: id) }

    static func custom(_ claims: JSONObject) -> SignInProof { SignInProof(amr: [], provider: customProvider, claims: claims) }
}

/// The passkeys among the authentication methods of a session (RFC 8176 section 2).
enum PasskeyMethods {
    /// Resistant to phishing; also protected by hardware.
    static let resistant = "phr"
    static let strong = "phrh"

    /// The methods of a passkey without verification of the user. A synchronized passkey is not bound to one piece of hardware.
    static func methods(of passkey: PasskeyRecord) -> [String] {
        [passkey.isBackupEligible || passkey.isHardwareProtected == false ? "swk" : "hwk", "user"]
    }

    /// The value of `acr` for a passkey. Only metadata whose root was verified proves the protection by hardware.
    static func strength(of passkey: PasskeyRecord) -> String {
        passkey.attestationTrust == "verified" && passkey.isHardwareProtected == true ? strong : resistant
    }

    static func usedPasskey(_ amr: [String]) -> Bool { amr.contains("hwk") || amr.contains("swk") }

    /// Whether the session began with a passkey and verification of the user, which are two factors.
    static func areTwoFactors(_ amr: [String]) -> Bool { usedPasskey(amr) && amr.contains("user") && amr.contains("mfa") }
}
