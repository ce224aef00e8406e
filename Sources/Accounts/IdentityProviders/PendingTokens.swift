import Contract
import Crypto
import JSON
import Platform
import ServiceContext

/// Pending tokens: an encrypted, verified identity that replaces a single-use ID token.
struct PendingTokens: Sendable {
    static let lifetimeSeconds: Int64 = 600
    private static let name = "pending token"
    private let vault: Vault

    /// The key of a testing store with a seed, which makes the tokens reproducible.
    private let seeded: SecretBytes?

    init(vault: Vault, seeded: SecretBytes? = nil) {
        self.vault = vault
        self.seeded = seeded
    }

    func token(of identity: ProviderIdentity, in tenantId: String, at now: Int64) -> String {
        token(of: identity.object, in: tenantId, at: now)
    }

    func token(of passkey: PendingPasskey, in tenantId: String, at now: Int64) -> String {
        token(of: passkey.object, in: tenantId, at: now)
    }

    private func token(of object: JSONObject, in tenantId: String, at now: Int64) -> String {
        var object = object
        object["tenant"] = .string(tenantId)
        object["until"] = .number(JSONNumber(now + Self.lifetimeSeconds))
        let bytes = JSONValue.object(object).bytes
        guard let seeded else { return Base64URL.encode(vault.seal(SecretBytes(bytes), as: Self.name)) }
        // Different contents have different salts, so no key encrypts two of them.
        return Base64URL.encode(Vault.seal(bytes, with: seeded, as: Self.name, salt: HMAC.sha256(key: seeded, bytes)))
    }

    /// - Throws: `PendingTokenInvalid`.
    func proven(by token: String, in tenantId: String, at now: Int64) throws -> ProvenCredential {
        guard let sealed = Base64URL.decode(token),
            let bytes = try? (seeded.map { try Vault.open(sealed, with: $0, as: Self.name) } ?? vault.open(sealed, as: Self.name)).copy(),
            let object = try? JSONValue(parsing: bytes).object, object["tenant"]?.string == tenantId,
            let until = object["until"]?.int, now < until
        else { throw PendingTokenInvalid() }
        if let passkey = PendingPasskey(object) { return .passkey(passkey) }
        guard let identity = ProviderIdentity(object) else { throw PendingTokenInvalid() }
        return .provider(identity, spending: nil)
    }
}

/// A passkey of another account whose response `account.link` has accepted. Its pending token signs in once.
struct PendingPasskey: Sendable, Equatable {
    let credentialId: [UInt8]
    /// Whether the authenticator verified the user.
    let isVerified: Bool
    /// The ID of the ceremony of the response, which stores whether the token was used.
    let ceremonyId: String
    /// The time of the response.
    let authenticatedAt: Int64

    init(credentialId: [UInt8], isVerified: Bool, ceremonyId: String, authenticatedAt: Int64) {
        self.credentialId = credentialId
        self.isVerified = isVerified
        self.ceremonyId = ceremonyId
        self.authenticatedAt = authenticatedAt
    }

    /// The members of the encrypted JSON object.
    var object: JSONObject {
        [
            "passkey": .string(Base64URL.encode(credentialId)), "verified": .bool(isVerified), "ceremony": .string(ceremonyId),
            "at": .number(JSONNumber(authenticatedAt)),
        ]
    }

    /// - Returns: `nil` if the object is not a stored passkey.
    init?(_ object: JSONObject) {
        guard let id = object["passkey"]?.string.flatMap({ Base64URL.decode($0) }), let isVerified = object["verified"]?.bool,
            let ceremonyId = object["ceremony"]?.string, let at = object["at"]?.int
        else { return nil }
        self.init(credentialId: id, isVerified: isVerified, ceremonyId: ceremonyId, authenticatedAt: at)
    }
}

extension ProviderIdentity {
    /// The members of the encrypted JSON object.
    var object: JSONObject {
        var object: JSONObject = [
            "provider": .string(providerId), "subject": .string(subject), "trusted": .bool(isEmailTrusted), "profile": .object(profile),
        ]
        for (name, path) in Self.texts { object[name] = self[keyPath: path].map { .string($0) } }
        object["grant"] = grant.map { .object($0.object) }
        return object
    }

    /// - Returns: `nil` if the object is not a stored identity.
    init?(_ object: JSONObject) {
        guard let provider = object["provider"]?.string, let subject = object["subject"]?.string else { return nil }
        self.init(providerId: provider, subject: subject)
        isEmailTrusted = object["trusted"]?.bool ?? false
        profile = object["profile"]?.object ?? [:]
        for (name, path) in Self.texts { self[keyPath: path] = object[name]?.string }
        grant = object["grant"]?.object.flatMap(ProviderGrant.init)
    }

    private static var texts: [(String, WritableKeyPath<ProviderIdentity, String?>)] {
        [
            ("email", \.email), ("name", \.displayName), ("photo", \.photoUrl), ("username", \.username), ("idToken", \.idToken),
            ("accessToken", \.accessToken),
        ]
    }
}
