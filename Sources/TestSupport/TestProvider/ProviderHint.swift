import Accounts
import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys

extension TestProvider {
    /// What an ID token says that was issued here, however old it is (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 1.0 section 2).
    ///
    /// - Throws: `OAuthRefusal`.
    func hinted(_ token: String, at issuer: ProviderIssuer) throws -> JSONObject {
        do {
            let (jws, key) = try signature(of: token, at: issuer)
            guard key.owner == .tenant(issuer.tenant.id), jws.header.hasType(TokenType.id),
                let claims = (try? JSONValue(parsing: jws.payload))?.object
            else { throw OAuthRefusal("invalid_request", "id_token_hint is not an ID token of \(issuer.url).") }
            return claims
        } catch let error as any ContractError {
            throw OAuthRefusal("invalid_request", "id_token_hint: \(error.message)")
        }
    }

    /// The signature of a token that a client shows to an issuer, checked.
    ///
    /// - Throws: a `Token…` error that says what is wrong with it.
    func signature(of token: String, at issuer: ProviderIssuer) throws -> (jws: JWS, key: StoredKey) {
        let signature = TokenSignature(surroundings: surroundings.service, signingKeys: catalogue.signingKeys)
        do { return try signature.verify(token) } catch let unknown as TokenKeyUnknown {
            guard unknown.kid != nil else { throw unknown }
            throw TokenKeyUnknown(
                kid: unknown.kid, reason: "\(issuer.url) has no such key; test.reset and test.restore delete keys")
        }
    }

    /// Whom a client means to go on with: the account of its id_token_hint, nil if it has sent none (OpenID Connect Core 3.1.2.1).
    ///
    /// - Throws: `OAuthRefusal`.
    func expected(_ asked: AuthorizeRequest, at issuer: ProviderIssuer) throws -> ExpectedPerson? {
        guard let hint = asked.parameters["id_token_hint"] else { return nil }
        let subject = try hinted(hint, at: issuer)["sub"]?.string ?? ""
        guard !subject.isEmpty, !subject.utf8.contains(0) else {
            throw OAuthRefusal("invalid_request", "id_token_hint has no sub.")
        }
        return ExpectedPerson(accountId: subject, username: try surroundings.database.read { try $0.account(subject)?.username })
    }
}

/// Somebody whom an ID token names.
struct ExpectedPerson: Sendable {
    let accountId: String
    /// nil for an account without one, or that is not there any more.
    let username: String?
}
