import Contract
import JSON

/// The rules for custom claims, which an application sets for an account or a session.
package enum CustomClaims {
    /// Names that custom claims cannot have: claims of these tokens, and names that other specifications define.
    package static let reserved: Set<String> = [
        "iss", "aud", "sub", "sid", "auth_time", "iat", "exp", "nbf", "jti", "client_id", "scope", "amr", "acr", "azp", "nonce", "at_hash",
        "c_hash", "cnf", "act", "may_act", "email", "email_verified", "name", "picture", "phone_number", "mintmark",
    ]

    /// The beginnings of claims by which a trusted issuer sets session tags and the source identity of a session. The claims of an
    /// account must not do so.
    private static let reservedPrefixes = ["https://aws.amazon.com/", "https://sts.amazonaws.com/"]

    /// Returns whether custom claims cannot have this name.
    package static func isReserved(_ name: String) -> Bool {
        reserved.contains(name) || reservedPrefixes.contains { name.hasPrefix($0) }
    }

    /// The maximum length as JSON without whitespace, in characters.
    static let maximumCharacters = 1000

    /// - Throws: `ClaimNameReserved` with every reserved name; `ClaimsTooLong`.
    package static func check(_ claims: JSONObject) throws {
        let refused = claims.names.filter(isReserved)
        if !refused.isEmpty { throw ClaimNameReserved(names: refused) }
        let characters = JSONValue.object(claims).text.unicodeScalars.count
        if characters > maximumCharacters { throw ClaimsTooLong(characters: Int64(characters)) }
    }
}
