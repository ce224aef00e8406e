import Contract
import Federation
import JSON

/// How strong and how recent the user's sign-in at a provider must be (OpenID Connect Core 1.0 §3.1.2.1; OWASP ASVS 5.0 §6.8.4).
struct ProviderStrength {
    private let acr: [String]
    private let maxAuthAgeSeconds: Int64?

    init(_ idp: IdpRecord) {
        acr = idp.settings.requiredAcr ?? []
        maxAuthAgeSeconds = idp.settings.maxAuthAgeSeconds
    }

    /// The parameters of the authorization request.
    var parameters: [(String, String)] {
        (acr.isEmpty ? [] : [("acr_values", acr.joined(separator: " "))]) + (maxAuthAgeSeconds.map { [("max_age", "\($0)")] } ?? [])
    }

    /// The members of an app's request that would contradict the settings.
    var reserved: Set<String> { Set(parameters.map(\.0)) }

    /// Refuses a credential without ID token, which does not tell how the user signed in, if the settings have conditions.
    ///
    /// - Throws: `InvalidCredential`.
    func requireNothing(of providerId: String) throws {
        if parameters.isEmpty { return }
        throw InvalidCredential(
            providerId: providerId, check: acr.isEmpty ? "authTime" : "acr",
            reason: "The credential has no ID token, so how the user signed in is unknown. Send the ID token.")
    }

    /// - Throws: `InvalidCredential` with the check `acr` or `authTime`.
    func check(_ claims: JSONObject, of providerId: String, now: Int64) throws {
        if !acr.isEmpty, claims["acr"]?.string.map(acr.contains) != true {
            throw InvalidCredential(
                providerId: providerId, check: "acr",
                reason: "The acr of the ID token is not one of \(acr.joined(separator: ", ")), which the provider's requiredAcr demands.")
        }
        guard let limit = maxAuthAgeSeconds else { return }
        guard let moment = NumericDate.seconds(claims["auth_time"]) else {
            throw InvalidCredential(
                providerId: providerId, check: "authTime", reason: "The ID token has no auth_time, which maxAuthAgeSeconds demands.")
        }
        if now - moment > limit + ExternalTokenRules.leewaySeconds {
            throw InvalidCredential(
                providerId: providerId, check: "authTime",
                reason: "The user signed in at the provider \(now - moment) seconds ago, more than \(limit). Sign in there again.")
        }
    }
}
