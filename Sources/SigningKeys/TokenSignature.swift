import Contract
import Crypto
import JSON
import ServiceContext
import Storage

/// Verifies the signature of any token of this store, with the algorithm of the key that its header names (RFC 8725).
package struct TokenSignature: Sendable {
    package let context: ServiceContext
    package let signingKeys: SigningKeys

    /// Clients present a token of the store with many calls.
    private static let known = ValidSignatures()

    package init(context: ServiceContext, signingKeys: SigningKeys) {
        self.context = context
        self.signingKeys = signingKeys
    }

    /// - Throws: `TokenMalformed`, `TokenAlgorithmNotAllowed`, `TokenKeyUnknown`, `TokenSignatureInvalid`, `TokenRevoked`.
    package func verify(_ token: String) throws -> (jws: JWS, key: StoredKey) {
        let (jws, kid) = try parse(token)
        return try verify(jws, with: try context.database.read { try key(kid, of: jws, in: $0) })
    }

    /// Verifies `token` within a transaction that reads more.
    ///
    /// - Throws: The errors of `verify(_:)`.
    package func verify(_ token: String, in tx: Transaction) throws -> (jws: JWS, key: StoredKey) {
        let (jws, kid) = try parse(token)
        return try verify(jws, with: try key(kid, of: jws, in: tx))
    }

    /// Verifies a parsed token within a transaction that reads more.
    ///
    /// - Throws: The errors of `verify(_:)`.
    package func verify(_ jws: JWS, in tx: Transaction) throws -> (jws: JWS, key: StoredKey) {
        guard let kid = jws.header.keyID else { throw TokenKeyUnknown(kid: nil, reason: "its header contains no kid") }
        return try verify(jws, with: try key(kid, of: jws, in: tx))
    }

    private func verify(_ jws: JWS, with found: StoredKey) throws -> (jws: JWS, key: StoredKey) {
        do { _ = try jws.verify(with: found.privateKey.publicKey, unlessKnown: Self.known) } catch {
            throw Self.answer(error, kid: found.kid)
        }
        if found.revokedAt != nil { throw TokenRevoked(reason: "the key that signed it was revoked by key.revoke") }
        return (jws, found)
    }

    private func key(_ kid: String, of jws: JWS, in tx: Transaction) throws -> StoredKey {
        guard let key = try signingKeys.key(kid, in: tx)?.key else {
            throw TokenKeyUnknown(kid: kid, reason: try absence(of: jws, in: tx))
        }
        return key
    }

    /// Returns the reason no key exists for a token. It depends on the token's issuer claim, which is not verified.
    private func absence(of jws: JWS, in tx: Transaction) throws -> String {
        guard let issuer = (try? JSONText(jws.payload).root)?["iss"]?.string, let owner = context.realm.owner(ofIssuer: issuer) else {
            return "its issuer does not belong to this store, whose issuers begin with \(context.realm.issuer)/"
        }
        guard try signingKeys.ring(of: owner, in: tx).keys.isEmpty else {
            return "its issuer has no such key. Keys are deleted when the last token they signed has expired"
        }
        switch owner {
        case .pool:
            return "its pool does not exist. Deleting a pool deletes its keys"
        case .tenant:
            return "its tenant does not exist or has not signed a token yet. Deleting a tenant deletes its keys"
        case .account:
            return "the account has no keys yet. token.outboundFederation creates them"
        }
    }

    private func parse(_ token: String) throws -> (jws: JWS, kid: String) {
        let jws: JWS
        do { jws = try JWS.parse(token) } catch { throw Self.answer(error, kid: nil) }
        guard let kid = jws.header.keyID else { throw TokenKeyUnknown(kid: nil, reason: "its header contains no kid") }
        return (jws, kid)
    }

    /// Returns the error of the contract for a JWS that was rejected.
    package static func answer(_ error: JWSError, kid: String?) -> any Error {
        switch error {
        case .malformed(let what): TokenMalformed(reason: what.reason)
        case .criticalHeader: TokenMalformed(reason: "its header requires extensions (crit) that are not supported")
        case .algorithmNotAllowed(let algorithm): TokenAlgorithmNotAllowed(algorithm: algorithm)
        case .algorithmMismatch(let algorithm, _): TokenAlgorithmNotAllowed(algorithm: algorithm.rawValue)
        case .unknownKey(let kid): TokenKeyUnknown(kid: kid, reason: "its kid is not a key of this store")
        case .badSignature: TokenSignatureInvalid(kid: kid ?? "")
        }
    }
}

extension JWSError.Malformation {
    fileprivate var reason: String {
        switch self {
        case .tooLong: "it is too long"
        case .parts: "it does not consist of three parts separated by dots"
        case .encoding(let part): "its \(part.rawValue) is not base64url without padding"
        case .headerSyntax(let error): "its header is not JSON: \(error)"
        case .headerNotObject: "its header is not a JSON object"
        case .headerParameter(let name): "\(name) is missing from its header or is not a string"
        }
    }
}
