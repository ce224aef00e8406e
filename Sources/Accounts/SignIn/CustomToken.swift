import Contract
import Crypto
import Federation
import JSON

/// A verified custom token, which a backend signs to sign a user in.
package struct CustomToken: Sendable {
    /// The claim `uid`.
    package let accountId: String
    /// Claims for the session that the sign-in starts.
    package let claims: JSONObject

    /// The maximum lifetime of a custom token, in seconds.
    static let longestSeconds: Int64 = 3600

    /// - Parameter audience: The required audience: the issuer URL of the tenant, or that of another product's API.
    /// - Throws: `CustomTokenInvalid` with the name of the failed check, `ClaimNameReserved`, `ClaimsTooLong`.
    package init(_ text: String, signers: [CustomTokenSigner], tenantId: String, audience: String, now: Int64) throws {
        func refuse(_ check: String, _ reason: String) -> CustomTokenInvalid { CustomTokenInvalid(check: check, reason: reason) }
        let jws: JWS
        do { jws = try JWS.parse(text) } catch { throw refuse("malformed", error.text) }
        guard let payload = (try? JSONValue(parsing: jws.payload))?.object else {
            throw refuse("malformed", "Its claims are not a JSON object.")
        }
        guard let issuer = payload["iss"]?.string, let signer = signers.first(where: { $0.issuer == issuer }) else {
            throw refuse("issuer", "Its iss is not one of the tenant's customTokenSigners.")
        }
        let keys = JWKSet(
            signer.keys.compactMap { key in (try? JSONText(JSONValue.object(key).text).root).flatMap { try? PublicKey(jwk: $0) } })
        guard let key = keys.key(for: jws.header), (try? jws.verify(with: key)) != nil else {
            throw refuse("signature", "It is not signed with a key of \(issuer).")
        }
        guard payload["sub"]?.string == issuer else { throw refuse("issuer", "Its sub must be equal to its iss.") }
        guard payload["aud"]?.string == audience else { throw refuse("audience", "Its aud must be \(audience).") }
        if let tenant = payload["tenant_id"], tenant.string != tenantId {
            throw refuse("tenant", "Its tenant_id is not \(tenantId).")
        }
        guard let issuedAt = NumericDate.seconds(payload["iat"]), issuedAt <= now + ExternalTokenRules.leewaySeconds else {
            throw refuse("notYetValid", "Its iat is missing or in the future; the current time is \(now).")
        }
        guard let expiresAt = NumericDate.seconds(payload["exp"]), expiresAt > now - ExternalTokenRules.leewaySeconds else {
            throw refuse("expired", "Its exp is missing or in the past; the current time is \(now).")
        }
        guard expiresAt <= issuedAt + Self.longestSeconds else {
            throw refuse("lifetime", "Its lifetime, from iat to exp, must be at most \(Self.longestSeconds) s.")
        }
        guard let uid = payload["uid"]?.string, Self.isAccountId(uid) else {
            throw refuse(
                "subject",
                "Its uid must be the ID of the account: 1 to 128 characters without control characters.")
        }
        switch payload["claims"] {
        case nil: claims = [:]
        case .object(let given)?: claims = given
        default: throw refuse("claims", "Its claims must be an object.")
        }
        try CustomClaims.check(claims)
        accountId = uid
    }

    /// Returns whether the text is a valid account ID according to the schema.
    private static func isAccountId(_ text: String) -> Bool {
        (1...128).contains(text.unicodeScalars.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
