import Accounts
import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys

extension TestProvider {
    /// Returns the claims of an ID token of this issuer, even if it has expired (OpenID Connect Core §3.1.2.1, RP-Initiated Logout 1.0 §2).
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

    /// Verifies the signature of a token that a client sends to an issuer.
    ///
    /// - Throws: A `Token…` error with the reason.
    func signature(of token: String, at issuer: ProviderIssuer) throws -> (jws: JWS, key: StoredKey) {
        let signature = TokenSignature(context: context.service, signingKeys: configurations.signingKeys)
        do { return try signature.verify(token) } catch let unknown as TokenKeyUnknown {
            guard unknown.kid != nil else { throw unknown }
            throw TokenKeyUnknown(
                kid: unknown.kid, reason: "\(issuer.url) has no such key; test.reset and test.restore delete keys")
        }
    }

    /// Returns the account in the `id_token_hint` of a request, or `nil` if the request has none (OpenID Connect Core §3.1.2.1).
    ///
    /// - Throws: `OAuthRefusal`.
    func expected(_ asked: AuthorizeRequest, at issuer: ProviderIssuer) throws -> LoginHint? {
        guard let hint = asked.parameters["id_token_hint"] else { return nil }
        let subject = try hinted(hint, at: issuer)["sub"]?.string ?? ""
        guard !subject.isEmpty, !subject.utf8.contains(0) else {
            throw OAuthRefusal("invalid_request", "id_token_hint has no sub.")
        }
        return LoginHint(accountId: subject, username: try context.database.read { try $0.account(subject)?.username })
    }
}

/// The account that an `id_token_hint` names.
struct LoginHint: Sendable {
    let accountId: String
    /// The user name, or `nil` if the account has none or no longer exists.
    let username: String?
}
