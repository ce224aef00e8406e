/// The media types in the headers of tokens of this store, by which verifiers distinguish them (RFC 8725 §3.11).
package enum TokenType {
    /// The type of a tenant's ID token.
    package static let id = "JWT"
    /// The type of a tenant's access token (RFC 9068).
    package static let access = "at+jwt"
    /// The type of a tenant's session cookie.
    package static let cookie = "cookie+jwt"
    /// The type of an assertion for another authorization server (draft-ietf-oauth-identity-assertion-authz-grant).
    package static let assertion = "oauth-id-jag+jwt"
    /// The type of a transaction token (draft-ietf-oauth-transaction-tokens).
    package static let transaction = "txntoken+jwt"
    /// The type of a pool's token.
    package static let pool = "pool+jwt"
}
