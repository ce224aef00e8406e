import Contract
import Crypto
import JSON
import ServiceContext
import SigningKeys

/// The claims that all tokens of a pool share, serialized once. A class, because every token operation passes it on.
final class PoolTokenFrame: Sendable {
    let poolId: String
    /// The members `iss` and `aud`.
    fileprivate let opening: [UInt8]
    /// The member with the pool's ARN, which tokens of guests do not contain.
    fileprivate let arn: [UInt8]

    init(_ realm: Deployment, poolId: String) {
        self.poolId = poolId
        opening = Self.members { writer in
            writer.key("iss")
            writer.string(realm.issuer(of: .pool(poolId)))
            writer.key("aud")
            writer.string(poolId)
        }
        arn = Self.members { writer in
            writer.key(PoolTokenClaims.arnClaim)
            writer.string(realm.arn(ofPool: poolId))
        }
    }

    /// The start of every payload.
    fileprivate var beginning: [UInt8] { [UInt8(ascii: "{")] + opening }

    private static func members(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        body(&writer)
        return writer.bytes
    }
}

/// A key of a pool, prepared to sign the pool's tokens. A class for the same reason as `PoolTokenFrame`.
final class PoolTokenIssuer: Sendable {
    fileprivate let frame: PoolTokenFrame
    private let signer: JWSSigner

    init(_ frame: PoolTokenFrame, _ key: StoredKey) {
        self.frame = frame
        signer = key.signer.forPayloads(beginningWith: frame.beginning)
    }

    func count(ofPayload bytes: Int) -> Int { signer.count(ofPayload: bytes) }

    /// Signs claims that were serialized for this issuer.
    func sign(_ claims: [UInt8]) throws(CryptoFailure) -> String { try signer.sign(claims) }
}

/// The claims of a pool's token, serialized in one pass.
package struct PoolTokenClaims: Sendable {
    let issuer: PoolTokenIssuer
    let identityId: String
    let amr: AuthenticationMethods
    let tags: [(key: String, value: String)]
    let issuedAt: Int64
    let expiresAt: Int64

    package static let arnClaim: StaticString = "https://cognito-identity.amazonaws.com/identity-pool-arn"
    package static let tagsClaim: StaticString = "https://aws.amazon.com/tags"

    /// The maximum length of a token, in characters. Methods that accept tokens have the same limit.
    static let mostCharacters = 20_000

    /// Returns the claims as the issuer signs them.
    ///
    /// - Throws: `InvalidPrincipalTags` if the tags make the token too long.
    func checkedJSON() throws -> [UInt8] {
        let json = json
        let count = issuer.count(ofPayload: json.count)
        if count > Self.mostCharacters,
            let longest = tags.max(by: { $0.key.utf8.count + $0.value.utf8.count < $1.key.utf8.count + $1.value.utf8.count })
        {
            throw InvalidPrincipalTags(
                tag: longest.key, reason: "with all tags, the token would have \(count) characters; the maximum is \(Self.mostCharacters)")
        }
        return json
    }

    private var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 640)
        writer.beginObject()
        writer.rawMembers(issuer.frame.opening)
        writer.key("sub")
        writer.string(identityId)
        writer.key("amr")
        amr.write(pool: issuer.frame.poolId, to: &writer)
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
        if !amr.isGuest { writer.rawMembers(issuer.frame.arn) }
        writer.key("iat")
        writer.int(issuedAt)
        writer.key("exp")
        writer.int(expiresAt)
        writer.endObject()
        return writer.bytes
    }
}

/// The authentication methods of a token: the providers of the current call, not all linked ones.
enum AuthenticationMethods: Sendable {
    case guest
    case developer(Login)
    /// The provider names with their qualified users, ordered by name.
    case providers([(name: String, qualified: String)])

    /// The methods of a call with a developer login and optional public logins.
    init(_ login: Login, _ proofs: [VerifiedLogin], in poolId: String) {
        if proofs.isEmpty {
            self = .developer(login)
            return
        }
        let all = proofs.map { ($0.provider.name, $0.qualified) } + [(login.provider, "\(login.provider):\(poolId):\(login.subject)")]
        self = .providers(all.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) })
    }

    /// The methods of a call with public logins. Without logins, those of a guest.
    init(_ proofs: [VerifiedLogin]) { self = proofs.isEmpty ? .guest : .providers(proofs.map { ($0.provider.name, $0.qualified) }) }

    func write(pool poolId: String, to writer: inout JSONWriter) {
        writer.beginArray()
        switch self {
        case .guest: writer.string("unauthenticated")
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
        case .providers(let providers):
            writer.string("authenticated")
            for (name, qualified) in providers {
                writer.string(name)
                writer.string(qualified)
            }
        }
        writer.endArray()
    }

    var isGuest: Bool { if case .guest = self { true } else { false } }
}
