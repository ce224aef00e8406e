import Contract
import Crypto
import Federation
import JSON
import Platform

/// The checks of an external ID token that an app or a flow submits (OpenID Connect Core §3.1.3.7). The signature is checked elsewhere.
enum ExternalIDTokenRules {
    /// The values that belong to the ID token.
    struct Companions: Sendable {
        var accessToken: String?
        var code: String?
        var nonce = Nonce.hashed(nil)
    }

    /// The nonce that the ID token must contain.
    enum Nonce: Sendable {
        /// The SHA-256 of the app's raw nonce. If the raw nonce is `nil`, the token must not contain a nonce.
        case hashed(String?)
        /// The nonce that this service sent.
        case exactly(String)
        /// Any nonce: a device authorization request contains none (RFC 8628).
        case unasked
    }

    /// - Throws: `InvalidCredential` or `InvalidNonce`, with the name of the failed check.
    static func claims(_ jws: JWS, _ idp: IdpRecord, _ companions: Companions, now: Int64) throws -> (subject: String, JSONObject) {
        func refuse(_ check: String, _ reason: String) -> InvalidCredential {
            InvalidCredential(providerId: idp.providerId, check: check, reason: reason)
        }
        do throws(ExternalTokenRules.Refusal) { try ExternalTokenRules.checkType(jws.header) } catch {
            throw refuse(error.check.rawValue, error.reason)
        }
        guard let node = try? JSONText(jws.payload).root, let claims = node.value.object else {
            throw refuse("malformed", "The claims of the ID token are not a JSON object.")
        }
        guard let issuer = claims["iss"]?.string, idp.issuers.contains(where: { $0.utf8.elementsEqual(issuer.utf8) }) else {
            throw refuse("issuer", "The issuer of the ID token is not exactly \(idp.issuers.first ?? "the issuer of the provider").")
        }
        do throws(ExternalTokenRules.Refusal) {
            try ExternalTokenRules.checkPurpose(node)
            _ = try ExternalTokenRules.client(
                of: node, among: idp.clientIds, acceptsAnyParty: idp.issuers.contains(where: ExternalTokenRules.acceptsAnyParty))
        } catch {
            let hint = error.check == .type ? "" : " To accept more client IDs, set moreClientIds."
            throw refuse(error.check.rawValue, error.reason + hint)
        }
        guard let expiresAt = NumericDate.seconds(claims["exp"]), expiresAt > now - ExternalTokenRules.leewaySeconds else {
            throw refuse("expired", "The ID token has expired or has no exp. Get a new one from the provider.")
        }
        for name in ["iat", "nbf"] {
            guard let moment = claims[name] else {
                if name == "iat" { throw refuse("notYetValid", "The ID token has no iat.") }
                continue
            }
            guard let moment = NumericDate.seconds(moment), moment <= now + ExternalTokenRules.leewaySeconds else {
                throw refuse("notYetValid", "The ID token is not valid yet: its \(name) is after \(now). Check the clocks of both systems.")
            }
        }
        guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count), subject.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw refuse("subject", "The sub of the ID token is not a string of 1 to 255 ASCII characters.")
        }
        try ProviderStrength(idp).check(claims, of: idp.providerId, now: now)
        try checkNonce(claims["nonce"], companions.nonce, idp)
        if let accessToken = companions.accessToken, let given = claims["at_hash"] {
            guard let given = given.string, given == hash(of: accessToken, under: jws.header.algorithm) else {
                throw refuse("accessTokenHash", "The access token does not match the at_hash of the ID token.")
            }
        }
        if let code = companions.code, let given = claims["c_hash"] {
            guard let given = given.string, given == hash(of: code, under: jws.header.algorithm) else {
                throw refuse("codeHash", "The code does not match the c_hash of the ID token.")
            }
        }
        return (subject, claims)
    }

    private static func checkNonce(_ nonce: JSONValue?, _ expected: Nonce, _ idp: IdpRecord) throws {
        func refuse(_ check: String, _ reason: String) -> InvalidNonce {
            InvalidNonce(providerId: idp.providerId, check: check, reason: reason)
        }
        let raw: String?
        switch expected {
        case .unasked: return
        case .exactly(let wanted):
            guard let nonce else { throw refuse("missing", "The ID token has no nonce, although one was sent.") }
            guard let given = nonce.string, constantTimeEquals(Array(given.utf8), Array(wanted.utf8)) else {
                throw refuse("mismatch", "The nonce is not the one that was sent. The ID token was issued for another sign-in.")
            }
            return
        case .hashed(let kept): raw = kept
        }
        switch (nonce, raw) {
        case (nil, nil):
            if idp.known?.needsNonce == true {
                throw refuse(
                    "missing", "ID tokens of \(idp.providerId) require a nonce. Send one to the provider, and pass rawNonce.")
            }
        case (_?, nil):
            throw refuse("missing", "The ID token contains a nonce. Pass rawNonce, the value whose SHA-256 was sent to the provider.")
        case (nil, _?):
            throw refuse(
                "unexpected", "The ID token contains no nonce. Send the SHA-256 of rawNonce, in hexadecimal, to the provider as the nonce.")
        case (let nonce?, let raw?):
            let wanted = Array(Hex.encode(Hash.sha256(Array(raw.utf8))).utf8)
            guard let given = nonce.string, constantTimeEquals(Array(given.utf8), wanted) else {
                throw refuse("mismatch", "The nonce is not the SHA-256 of rawNonce in lowercase hexadecimal.")
            }
        }
    }

    /// Returns the value of `at_hash` (OpenID Connect Core §3.1.3.6): the left half of the hash of the token. The hash function is that of
    /// the signature algorithm.
    static func hash(of token: String, under algorithm: SignatureAlgorithm) -> String {
        let bytes = Array(token.utf8)
        let whole =
            algorithm.rawValue.hasSuffix("256")
            ? Hash.sha256(bytes) : algorithm.rawValue.hasSuffix("384") ? Hash.sha384(bytes) : Hash.sha512(bytes)
        return Base64URL.encode(whole.prefix(whole.count / 2))
    }
}
