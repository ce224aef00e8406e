import Contract
import Crypto
import JSON
import Platform

/// Pending tokens: a proven identity, sealed, that stands for the ID token which may not be shown again (firebase.md 1.5).
struct PendingTokens: Sendable {
    static let lifetimeSeconds: Int64 = 600
    private static let name = "pending token"
    private let vault: Vault

    init(vault: Vault) { self.vault = vault }

    func token(of identity: ProviderIdentity, in tenantId: String, at now: Int64) -> String {
        var object: JSONObject = [
            "tenant": .string(tenantId), "until": .number(JSONNumber(now + Self.lifetimeSeconds)),
            "provider": .string(identity.providerId), "subject": .string(identity.subject), "trusted": .bool(identity.isEmailTrusted),
            "profile": .object(identity.profile),
        ]
        for (name, path) in Self.texts { object[name] = identity[keyPath: path].map { .string($0) } }
        return Base64URL.encode(vault.seal(SecretBytes(JSONValue.object(object).bytes), as: Self.name))
    }

    /// - Throws: `PendingTokenInvalid`.
    func identity(of token: String, in tenantId: String, at now: Int64) throws -> ProviderIdentity {
        guard let sealed = Base64URL.decode(token), let bytes = try? vault.open(sealed, as: Self.name).copy(),
            let object = try? JSONValue(parsing: bytes).object, object["tenant"]?.string == tenantId,
            let until = object["until"]?.int, now < until, let provider = object["provider"]?.string,
            let subject = object["subject"]?.string
        else { throw PendingTokenInvalid() }
        var identity = ProviderIdentity(providerId: provider, subject: subject)
        identity.isEmailTrusted = object["trusted"]?.bool ?? false
        identity.profile = object["profile"]?.object ?? [:]
        for (name, path) in Self.texts { identity[keyPath: path] = object[name]?.string }
        return identity
    }

    private static var texts: [(String, WritableKeyPath<ProviderIdentity, String?>)] {
        [
            ("email", \.email), ("name", \.displayName), ("photo", \.photoUrl), ("username", \.username), ("idToken", \.idToken),
            ("accessToken", \.accessToken),
        ]
    }
}
