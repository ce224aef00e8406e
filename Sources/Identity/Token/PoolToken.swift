import Crypto
import JSON

/// The claims of a token that a pool issues (cognito.md 5.2), written in one pass.
struct PoolTokenClaims: Sendable {
    let realm: Realm
    let poolId: String
    let identityId: String
    let amr: AuthenticationMethods
    let tags: [(key: String, value: String)]
    let issuedAt: Int64
    let expiresAt: Int64

    /// The media type in the header; it tells a pool's tokens from a tenant's.
    static let type = "pool+jwt"
    static let arnClaim: StaticString = "https://cognito-identity.amazonaws.com/identity-pool-arn"
    static let tagsClaim: StaticString = "https://aws.amazon.com/tags"

    var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 640)
        writer.beginObject()
        writer.key("iss")
        realm.writeIssuer(of: .pool(poolId), to: &writer)
        writer.key("aud")
        writer.string(poolId)
        writer.key("sub")
        writer.string(identityId)
        writer.key("amr")
        amr.write(pool: poolId, to: &writer)
        if !tags.isEmpty {
            writer.key(Self.tagsClaim)
            writer.beginObject()
            writer.key("principal_tags")
            writer.beginObject()
            for tag in tags {
                writer.key(tag.key)
                writer.beginArray()
                writer.string(tag.value)
                writer.endArray()
            }
            writer.endObject()
            writer.endObject()
        }
        writer.key(Self.arnClaim)
        realm.writeARN(ofPool: poolId, to: &writer)
        writer.key("iat")
        writer.int(issuedAt)
        writer.key("exp")
        writer.int(expiresAt)
        writer.endObject()
        return writer.bytes
    }
}

/// What a token says of how its user was authenticated: the providers of this call, not everything linked (cognito.md 5.3).
enum AuthenticationMethods: Sendable {
    case developer(Login)

    func write(pool poolId: String, to writer: inout JSONWriter) {
        writer.beginArray()
        switch self {
        case .developer(let login):
            writer.string("authenticated")
            writer.string(login.provider)
            writer.beginString()
            writer.part(login.provider)
            writer.part(":")
            writer.part(poolId)
            writer.part(":")
            writer.part(login.subject)
            writer.endString()
        }
        writer.endArray()
    }
}
