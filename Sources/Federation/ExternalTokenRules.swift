import Crypto
import JSON

/// The rules that an ID token of an external issuer must satisfy to count as a login: its type, purpose and audience
/// (Sources/Federation/README.md, "External ID tokens").
package enum ExternalTokenRules {
    /// The accepted difference between the clock of an issuer and the clock of this process, in seconds.
    package static let leewaySeconds: Int64 = 300

    /// The violation of a rule.
    package struct Refusal: Error, Equatable {
        package enum Check: String {
            /// The token is not an ID token, according to its type or claims.
            case type
            case audience
            case authorizedParty
        }

        package let check: Check
        /// The reason, in one or two sentences.
        package let reason: String
    }

    /// Rejects every type except `JWT`: the header type of access tokens (RFC 9068 §4), logout tokens (OpenID Connect Back-Channel Logout
    /// 1.0 §2.4) and security event tokens (RFC 8417 §2.3) shows that they are not ID tokens (RFC 8725 §3.11).
    package static func checkType(_ header: JWSHeader) throws(Refusal) {
        guard let type = header.type, !header.hasType("JWT") else { return }
        throw Refusal(
            check: .type, reason: "The token has the header typ '\(ProviderErrorText.of(type))'. An ID token has typ JWT or no typ.")
    }

    /// Rejects tokens whose claims show that they are not ID tokens, for issuers that use the type `JWT` for all tokens.
    package static func checkPurpose(_ claims: JSONNode) throws(Refusal) {
        if claims["events"] != nil {
            throw Refusal(
                check: .type, reason: "The token contains events: it is a logout token or a security event token, not an ID token.")
        }
        // Amazon Cognito user pools set `id` or `access`.
        if let use = claims["token_use"], use.string != "id" {
            throw Refusal(check: .type, reason: "The token_use of the token is not id. Send the ID token.")
        }
        // Keycloak sets the kind of a token as a claim.
        if let kind = claims["typ"]?.string, keycloakKinds.contains(kind.lowercased()) {
            throw Refusal(check: .type, reason: "The token has the claim typ '\(ProviderErrorText.of(kind))': it is not an ID token.")
        }
    }

    private static let keycloakKinds: Set = ["bearer", "refresh", "logout", "offline"]

    /// Returns the client for which a token was issued.
    ///
    /// `aud` decides; `azp` never replaces it. An access token for the API of another party can name one of our clients in `azp`. The
    /// operator of that API could otherwise sign in with it (OpenID Connect Core 1.0 §3.1.3.7, steps 3 to 5).
    ///
    /// - Parameters:
    ///   - clients: The accepted client IDs.
    ///   - acceptsAnyParty: Whether to accept any `azp`.
    /// - Returns: `azp` if it is one of the clients, otherwise the first accepted value of `aud`.
    package static func client(of claims: JSONNode, among clients: [String], acceptsAnyParty: Bool) throws(Refusal) -> String {
        guard let audience = claims["aud"], !audience.isNull else {
            throw Refusal(check: .audience, reason: "Missing a required claim: aud")
        }
        var party: String?
        if let azp = claims["azp"] {
            guard let text = azp.string, !text.isEmpty, acceptsAnyParty || clients.contains(text) else {
                throw Refusal(
                    check: .authorizedParty, reason: "The azp of the token is not one of the accepted client IDs.")
            }
            party = text
        }
        let (values, areStrings) = strings(audience)
        let accepted = values.filter(clients.contains)
        guard areStrings, let first = accepted.first else {
            throw Refusal(check: .audience, reason: "The audience of the token is not one of the accepted client IDs.")
        }
        if party == nil, accepted.count < values.count {
            throw Refusal(
                check: .authorizedParty,
                reason: "The token also has audiences that are not accepted client IDs, and no azp names the client that requested it.")
        }
        return party.flatMap { clients.contains($0) ? $0 : nil } ?? first
    }

    /// Returns whether any `azp` is accepted together with an accepted `aud`. Android apps receive Google tokens with the app in `azp` and
    /// the server in `aud`; both belong to the same project.
    package static func acceptsAnyParty(issuer: String) -> Bool { issuer == "https://accounts.google.com" }

    /// Returns the string values of `aud`, and whether all values are strings.
    private static func strings(_ audience: JSONNode) -> ([String], Bool) {
        if let one = audience.string { return ([one], true) }
        guard audience.kind == .array else { return ([], false) }
        var (values, areStrings) = ([String](), true)
        audience.forEachElement {
            if let value = $1.string { values.append(value) } else { areStrings = false }
        }
        return (values, areStrings)
    }
}
