/// The media types in the headers of a tenant's tokens; they tell them apart from each other and from a pool's.
enum TenantTokenType {
    static let id = "JWT"
    /// RFC 9068.
    static let access = "at+jwt"
}
