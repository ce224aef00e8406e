import Contract
import Crypto
import JSON
import Storage

/// The signature of any token that this store has issued, checked with the one algorithm of the key it names (RFC 8725).
struct TokenSignature: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue

    /// - Throws: `TokenMalformed`, `TokenAlgorithmNotAllowed`, `TokenKeyUnknown`, `TokenSignatureInvalid`, `TokenRevoked`.
    func verify(_ token: String) throws -> (jws: JWS, key: StoredKey) {
        let jws = try parse(token)
        guard let kid = jws.header.keyID else { throw TokenKeyUnknown(kid: nil, reason: "it names none (kid)") }
        let found = try surroundings.database.read { tx in
            guard let key = try key(kid, in: tx) else { throw TokenKeyUnknown(kid: kid, reason: try absence(of: jws, in: tx)) }
            return key
        }
        do { _ = try jws.verify(with: found.privateKey.publicKey) } catch { throw Self.answer(error, kid: kid) }
        if found.revokedAt != nil { throw TokenRevoked(reason: "the key that signed it was revoked by key.revoke") }
        return (jws, found)
    }

    private func key(_ kid: String, in tx: Transaction) throws -> StoredKey? { try catalogue.signingKeys.key(kid, in: tx)?.key }

    /// Why there is no key for a token, as far as can be told by whose it says it is; nothing in it is proven.
    private func absence(of jws: JWS, in tx: Transaction) throws -> String {
        guard let issuer = (try? JSONText(jws.payload).root)?["iss"]?.string, let owner = surroundings.realm.owner(ofIssuer: issuer) else {
            return "its issuer is none of this store's, which begin with \(surroundings.realm.issuer)/"
        }
        switch owner {
        case .pool(let id) where try catalogue.knownPool(id, in: tx) == nil:
            return "its pool is not here, or not any more; the keys of a deleted pool go with it"
        case .tenant(let id) where try catalogue.knownTenant(id, in: tx) == nil:
            return "its tenant is not here, or not any more; the keys of a deleted tenant go with it"
        default: return "its issuer has no such key, or not any more; keys go when the last token they signed has expired"
        }
    }

    private func parse(_ token: String) throws -> JWS {
        do { return try JWS.parse(token) } catch { throw Self.answer(error, kid: nil) }
    }

    private static func answer(_ error: JWSError, kid: String?) -> any Error {
        switch error {
        case .malformed(let what): TokenMalformed(reason: what.reason)
        case .criticalHeader: TokenMalformed(reason: "its header demands extensions (crit) that are not known here")
        case .algorithmNotAllowed(let algorithm): TokenAlgorithmNotAllowed(algorithm: algorithm)
        case .algorithmMismatch(let algorithm, _): TokenAlgorithmNotAllowed(algorithm: algorithm.rawValue)
        case .unknownKey(let kid): TokenKeyUnknown(kid: kid, reason: "it names none of this store")
        case .badSignature: TokenSignatureInvalid(kid: kid ?? "")
        }
    }
}

extension JWSError.Malformation {
    fileprivate var reason: String {
        switch self {
        case .tooLong: "it is too long"
        case .parts: "it does not have three parts with dots between them"
        case .encoding(let part): "its \(part.rawValue) is not base64url without padding"
        case .headerSyntax(let error): "its header is not JSON: \(error)"
        case .headerNotObject: "its header is not a JSON object"
        case .headerParameter(let name): "\(name) is missing from its header, or is no string"
        }
    }
}
