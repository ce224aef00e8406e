import Crypto
import JSON

/// The rules that an ID token of an issuer elsewhere must keep before it counts as a login: its type, its purpose and its audience.
package enum ForeignTokenRules {
    /// The accepted difference between the clock of an issuer and the clock of this process, in seconds.
    package static let leewaySeconds: Int64 = 300

    /// A rule that a token breaks.
    package struct Refusal: Error, Equatable {
        package enum Check: String {
            /// The token is of another type, or serves another purpose, than an ID token.
            case type
            case audience
            case authorizedParty
        }

        package let check: Check
        /// One or two sentences.
        package let reason: String
    }

    /// Refuses every type but `JWT`: an access token (RFC 9068 section 4), a logout token (OpenID Connect Back-Channel Logout 2.4) or a
    /// security event token (RFC 8417 section 2.3) says in its header that it is not an ID token (RFC 8725 section 3.11).
    package static func checkType(_ header: JWSHeader) throws(Refusal) {
        guard let type = header.type, !header.hasType("JWT") else { return }
        throw Refusal(
            check: .type, reason: "The token has the header typ '\(Words.of(type))'. An ID token has typ JWT or no typ.")
    }

    /// Refuses tokens whose claims say that they are not ID tokens, for issuers that give every token the type `JWT`.
    package static func checkPurpose(_ claims: JSONNode) throws(Refusal) {
        if claims["events"] != nil {
            throw Refusal(
                check: .type, reason: "The token contains events: it is a logout token or a security event token, not an ID token.")
        }
        // Amazon Cognito user pools: `id` or `access`.
        if let use = claims["token_use"], use.string != "id" {
            throw Refusal(check: .type, reason: "The token_use of the token is not id. Send the ID token.")
        }
        // Keycloak writes the kind of a token as a claim.
        if let kind = claims["typ"]?.string, keycloakKinds.contains(kind.lowercased()) {
            throw Refusal(check: .type, reason: "The token has the claim typ '\(Words.of(kind))': it is not an ID token.")
        }
    }

    private static let keycloakKinds: Set = ["bearer", "refresh", "logout", "offline"]

    /// The client that a token was made for.
    ///
    /// `aud` decides. `azp` never replaces it: an access token that one of our clients was given for the API of another party names the
    /// client in `azp`, and the operator of that API could otherwise sign in with it (OpenID Connect Core 3.1.3.7, steps 3 to 5).
    ///
    /// - Parameters:
    ///   - clients: the client ids that are accepted.
    ///   - acceptsAnyParty: whether any `azp` is accepted.
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

    /// Whether any `azp` is accepted beside an accepted `aud`. An Android app gets tokens of Google that name the app in `azp` and the
    /// server that they are for in `aud`; both belong to one project there.
    package static func acceptsAnyParty(issuer: String) -> Bool { issuer == "https://accounts.google.com" }

    /// The values of `aud`, with whether all of them are strings.
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
