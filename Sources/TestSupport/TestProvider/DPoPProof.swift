import Crypto
import JSON
import Platform

/// A proof of possession of a key for one request (RFC 9449 §4.2), whose signature and form are verified.
struct DPoPProof: Sendable {
    /// The thumbprint of the key (RFC 7638), the `jkt` of the tokens that are bound to it.
    let thumbprint: String
    let id: String
    let issuedAt: Int64
    let nonce: String?
    /// The hash of the access token that the request contains.
    let accessTokenHash: String?

    static let type = "dpop+jwt"
    /// All algorithms of the store, which are asymmetric.
    static let algorithms: [SignatureAlgorithm] = [.ES256, .ES384, .ES512, .EdDSA, .PS256, .RS256]
    private static let maximumBytes = 8 * 1024
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// The request that a proof must belong to.
    struct Request {
        let method: String
        /// The URLs by which the endpoint can be addressed.
        let urls: [String]
    }

    /// Verifies everything that needs no state (RFC 9449 §4.3).
    ///
    /// - Throws: `OAuthRefusal` with `invalid_dpop_proof`.
    init(_ text: String, for request: Request) throws {
        let jws: JWS
        do throws(JWSError) { jws = try JWS.parse(text, maximumCount: Self.maximumBytes) } catch {
            throw Self.refusal("The DPoP proof is not a signed JWT: \(error)")
        }
        guard jws.header.hasType(Self.type) else { throw Self.refusal("The typ of a DPoP proof must be \(Self.type).") }
        guard Self.algorithms.contains(jws.header.algorithm) else {
            throw Self.refusal("The alg \(jws.header.algorithm.rawValue) is not supported for DPoP proofs.")
        }
        guard let member = jws.header.json["jwk"], member.kind == .object else {
            throw Self.refusal("The header of a DPoP proof must contain the public key as jwk.")
        }
        if let name = Self.privateMembers.first(where: { member[$0] != nil }) {
            throw Self.refusal("The jwk of a DPoP proof must be a public key, but contains \(name).")
        }
        do {
            let jwk = try JWK(member, rsaAlgorithm: jws.header.algorithm)
            _ = try jws.verify(with: try PublicKey(jwk))
            thumbprint = jwk.thumbprint
        } catch let error as KeyError {
            throw Self.refusal("The jwk of the DPoP proof is not valid: \(error)")
        } catch { throw Self.refusal("The signature of the DPoP proof is not valid.") }
        guard let claims = (try? JSONValue(parsing: jws.payload))?.object else { throw Self.refusal("The DPoP proof has no claims.") }
        guard let id = claims["jti"]?.string, 1...256 ~= id.utf8.count else {
            throw Self.refusal("The jti of a DPoP proof must be a string of 1 to 256 bytes.")
        }
        guard claims["htm"]?.string == request.method else { throw Self.refusal("The htm of the DPoP proof must be \(request.method).") }
        guard let address = claims["htu"]?.string.flatMap(Self.plain), request.urls.contains(where: { Self.plain($0) == address }) else {
            throw Self.refusal("The htu of the DPoP proof must be \(request.urls[0]).")
        }
        guard let issuedAt = claims["iat"]?.int else { throw Self.refusal("The iat of a DPoP proof must be a whole number of seconds.") }
        if let member = claims["nonce"], member.string == nil { throw Self.refusal("The nonce of a DPoP proof must be a string.") }
        if let member = claims["ath"], member.string == nil { throw Self.refusal("The ath of a DPoP proof must be a string.") }
        (self.id, self.issuedAt) = (id, issuedAt)
        (nonce, accessTokenHash) = (claims["nonce"]?.string, claims["ath"]?.string)
    }

    /// Returns a URL as it is compared: without query and fragment, with the scheme and the host in lower case (RFC 9449 §4.3).
    private static func plain(_ url: String) -> String? {
        guard let parts = try? HTTPURL(url), parts.userInformation == nil else { return nil }
        return "\(parts.scheme.rawValue)://\(parts.host.lowercased()):\(parts.effectivePort)\(parts.path)"
    }

    static func refusal(_ reason: String) -> OAuthRefusal { OAuthRefusal("invalid_dpop_proof", reason) }
}
