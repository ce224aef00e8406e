import Contract
import Crypto
import Storage

/// The signature of any token that this store has issued, checked with the one algorithm of the key it names (RFC 8725).
struct TokenSignature: Sendable {
    let surroundings: Surroundings
    let catalogue: Catalogue

    /// - Throws: `TokenMalformed`, `TokenAlgorithmNotAllowed`, `TokenKeyUnknown`, `TokenSignatureInvalid`, `TokenRevoked`.
    func verify(_ token: String) throws -> (jws: JWS, key: StoredKey) {
        let jws = try parse(token)
        guard let kid = jws.header.keyID else { throw TokenKeyUnknown(kid: nil) }
        let found = try surroundings.database.read { tx in try key(kid, in: tx) }
        guard let found else { throw TokenKeyUnknown(kid: kid) }
        do { _ = try jws.verify(with: found.privateKey.publicKey) } catch { throw Self.answer(error, kid: kid) }
        if found.revokedAt != nil { throw TokenRevoked(reason: "the key that signed it was revoked by key.revoke") }
        return (jws, found)
    }

    private func key(_ kid: String, in tx: Transaction) throws -> StoredKey? { try catalogue.signingKeys.key(kid, in: tx)?.key }

    private func parse(_ token: String) throws -> JWS {
        do { return try JWS.parse(token) } catch { throw Self.answer(error, kid: nil) }
    }

    private static func answer(_ error: JWSError, kid: String?) -> any Error {
        switch error {
        case .malformed(let what): TokenMalformed(reason: what.reason)
        case .criticalHeader: TokenMalformed(reason: "its header demands extensions (crit) that are not known here")
        case .algorithmNotAllowed(let algorithm): TokenAlgorithmNotAllowed(algorithm: algorithm)
        case .algorithmMismatch(let algorithm, _): TokenAlgorithmNotAllowed(algorithm: algorithm.rawValue)
        case .unknownKey(let kid): TokenKeyUnknown(kid: kid)
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
