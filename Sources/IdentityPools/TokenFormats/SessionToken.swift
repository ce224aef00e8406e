import Contract
import Crypto
import JSON
import Platform

/// The contents of a session token. They describe temporary credentials completely, so that credentials need no row in the store.
struct SessionClaims: Sendable {
    let accessKeyId: String
    let identityId: String
    let poolId: String
    let roleName: String
    let sessionName: String
    let tags: [(key: String, value: String)]
    /// The token of a trusted issuer that was exchanged. The session then has no identity and no pool.
    var federated: FederatedSource?
    var sourceIdentity: String?
    let policy: String?
    let issuedAt: Int64
    let expiresAt: Int64
}

/// Encrypts and decrypts session tokens: version ‖ key ID ‖ 32-byte salt ‖ AES-256-GCM of the claims.
///
/// The secret access key is an HMAC of the whole token under another key. A token alone therefore does not allow signing, and verification
/// requires no row in the store.
struct SessionSealer: Sendable {
    private static let version: UInt8 = 1
    private static let keyIdCount = 8
    private static let saltCount = 32
    private static let secretCount = 30

    private let key: SecretBytes
    private let secretKey: SecretBytes
    private let keyId: [UInt8]

    init(_ key: SessionKey) {
        self.key = key.bytes
        secretKey = key.secretKey
        keyId = key.id
    }

    /// Returns the key ID of `token`, or `nil` if it is not a session token.
    static func keyId(of token: String) -> [UInt8]? {
        guard let bytes = Base64URL.decode(token), bytes.count > 1 + keyIdCount + saltCount + 16, bytes[0] == version else { return nil }
        return Array(bytes[1...keyIdCount])
    }

    func seal(_ claims: SessionClaims, random: any RandomSource) -> String {
        let head = [Self.version] + keyId
        let salt = random.bytes(Self.saltCount)
        return Base64URL.encode(head + salt + AESGCM.seal(claims.json, key: once(salt), nonce: Self.nonce, authenticating: head))
    }

    /// Returns the claims of `token`, or `nil` if it was encrypted with another key or altered.
    func open(_ token: String) -> SessionClaims? {
        guard Self.keyId(of: token) == keyId, let bytes = Base64URL.decode(token) else { return nil }
        let head = Array(bytes[...Self.keyIdCount])
        let salt = Array(bytes[head.count..<head.count + Self.saltCount])
        let sealed = Array(bytes[(head.count + Self.saltCount)...])
        guard let plain = try? AESGCM.open(sealed, key: once(salt), nonce: Self.nonce, authenticating: head) else { return nil }
        return (try? JSONText(plain)).flatMap { SessionClaims($0.root) }
    }

    /// Returns the secret access key that belongs to `token`.
    func secretAccessKey(for token: String) -> String {
        Base64URL.encode(HMAC.sha256(key: secretKey, Array(token.utf8)).prefix(Self.secretCount))
    }

    private func once(_ salt: [UInt8]) -> SecretBytes { HKDF.sha256(secret: key, salt: salt, info: "mintmark session token", count: 32) }

    /// The salt gives every token a separate key, so a fixed nonce is safe.
    private static let nonce = [UInt8](repeating: 0, count: 12)
}

/// A key that encrypts session tokens.
struct SessionKey: Sendable {
    let id: [UInt8]
    let bytes: SecretBytes
    /// The key of the secret access keys.
    let secretKey: SecretBytes

    init(id: [UInt8], bytes: SecretBytes) {
        self.id = id
        self.bytes = bytes
        secretKey = HKDF.sha256(secret: bytes, salt: [], info: "mintmark session secret", count: 32)
    }
}

extension SessionClaims {
    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.string(accessKeyId)
        if let federated {
            writer.key("f")
            federated.write(to: &writer)
        } else {
            writer.key("i")
            writer.string(identityId)
            writer.key("p")
            writer.string(poolId)
        }
        if let sourceIdentity {
            writer.key("s")
            writer.string(sourceIdentity)
        }
        writer.key("r")
        writer.string(roleName)
        writer.key("n")
        writer.string(sessionName)
        writer.key("b")
        writer.int(issuedAt)
        writer.key("e")
        writer.int(expiresAt)
        if !tags.isEmpty {
            writer.key("t")
            writer.beginObject()
            for tag in tags {
                writer.key(tag.key)
                writer.string(tag.value)
            }
            writer.endObject()
        }
        if let policy {
            writer.key("y")
            writer.string(policy)
        }
        writer.endObject()
        return writer.bytes
    }

    fileprivate init?(_ node: JSONNode) {
        guard let accessKeyId = node["a"]?.string, let roleName = node["r"]?.string, let sessionName = node["n"]?.string,
            let issuedAt = node["b"]?.number?.int64,
            let expiresAt = node["e"]?.number?.int64
        else { return nil }
        var federated: FederatedSource?
        if let source = node["f"] {
            guard let issuer = source["issuer"]?.string, let subject = source["subject"]?.string,
                let audience = source["audience"]?.string
            else { return nil }
            federated = FederatedSource(issuer: issuer, subject: subject, audience: audience, tokenId: source["tokenId"]?.string)
        }
        let (identityId, poolId) = (node["i"]?.string ?? "", node["p"]?.string ?? "")
        guard federated != nil || !identityId.isEmpty && !poolId.isEmpty else { return nil }
        var tags: [(String, String)] = []
        node["t"]?.forEachMember { name, value in tags.append((name, value.string ?? "")) }
        self.init(
            accessKeyId: accessKeyId, identityId: identityId, poolId: poolId, roleName: roleName, sessionName: sessionName, tags: tags,
            federated: federated, sourceIdentity: node["s"]?.string, policy: node["y"]?.string, issuedAt: issuedAt, expiresAt: expiresAt)
    }
}
