/// The media types in the headers of the tokens that this store signs. They tell the kinds of tokens apart (RFC 8725 section 3.11).
package enum TokenType {
    /// A tenant's ID token.
    package static let id = "JWT"
    /// A tenant's access token (RFC 9068).
    package static let access = "at+jwt"
    /// A pool's token.
    package static let pool = "pool+jwt"
}
