import Contract
import Crypto
import JSON
import Platform
import SigningKeys

/// A token that was presented to assume a role, parsed but not verified. Its `iss` decides which rules apply.
struct PresentedToken {
    let text: String
    /// The parsed token; `nil` if its algorithm is not supported.
    let jws: JWS?
    /// The name of an algorithm that is not supported.
    let refusedAlgorithm: String?
    let claims: JSONNode
    let issuer: String?

    /// - Throws: `TokenMalformed`.
    init(_ token: String) throws {
        text = token
        let payload: [UInt8]
        do throws(JWSError) {
            let jws = try JWS.parse(token)
            (self.jws, refusedAlgorithm, payload) = (jws, nil, jws.payload)
        } catch .algorithmNotAllowed(let name) {
            // The issuer is checked before the algorithm, so that the first failed check is reported.
            let parts = token.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])) else {
                throw TokenMalformed(reason: "it does not consist of three parts separated by dots")
            }
            (jws, refusedAlgorithm, payload) = (nil, name, bytes)
        } catch { throw TokenSignature.answer(error, kid: nil) }
        guard let claims = try? JSONText(payload).root, claims.kind == .object else {
            throw TokenMalformed(reason: "its claims are not a JSON object")
        }
        self.claims = claims
        issuer = claims["iss"]?.string
    }
}
