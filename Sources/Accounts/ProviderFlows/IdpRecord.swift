import Contract
import Crypto
import JSON
import Platform
import ServiceContext

/// The stored record of an identity provider of a tenant.
package struct IdpRecord: Sendable {
    /// The parameters of `idp.create`, without the client secret.
    package let settings: IdpCreate.Params
    /// The encrypted client secret.
    package let clientSecret: [UInt8]?
    let createdAt: Int64
    let updatedAt: Int64

    package var tenantId: String { settings.tenantId }
    package var providerId: String { settings.providerId }
    /// The built-in provider, or `nil` for an `oidc.` provider.
    var known: KnownProvider? { KnownProvider(rawValue: settings.providerId) }
    /// The accepted issuers of ID tokens. The first one publishes the keys.
    var issuers: [String] { settings.issuer.map { [$0] } ?? known?.issuers ?? [] }
    /// Whether the issuer is that of the built-in provider, not one from the settings.
    var hasOwnIssuer: Bool { settings.issuer.map { known?.issuers.contains($0) ?? false } ?? true }
    var responseType: IdpResponseType { settings.responseType ?? .code }
    /// The client IDs that are accepted as audience of ID tokens.
    var clientIds: [String] { [settings.clientId] + (settings.moreClientIds ?? []) }
    /// The base URL of the API that verifies access tokens.
    var endpoint: String? { settings.endpoint ?? known?.endpoint }

    /// The configured keys, or `nil` if keys are fetched from the issuer.
    var keys: JWKSet? {
        settings.keys.map { keys in
            JWKSet(keys.compactMap { key in (try? JSONText(JSONValue.object(key).text).root).flatMap { try? PublicKey(jwk: $0) } })
        }
    }

    var address: ProviderAddress {
        ProviderAddress(
            name: providerId, allowsInsecure: settings.allowInsecure, allowsPrivateNetwork: settings.allowPrivateNetwork)
    }

    /// The response type of a provider that was stored without one, when the implicit flow was the default.
    static func formerResponseType(of providerId: String) -> IdpResponseType {
        providerId == KnownProvider.github.rawValue ? .code : .idToken
    }

    /// The record as the `idp.*` methods return it.
    var answer: Idp {
        Idp(
            tenantId: tenantId, providerId: providerId, clientId: settings.clientId, hasClientSecret: clientSecret != nil,
            clientAuthentication: clientAuthentication,
            issuer: issuers.first, displayName: settings.displayName, enabled: settings.enabled, responseType: responseType,
            scopes: settings.scopes ?? [],
            requiredAcr: settings.requiredAcr, maxAuthAgeSeconds: settings.maxAuthAgeSeconds, openidOnly: settings.openidOnly,
            trustEmail: settings.trustEmail,
            moreClientIds: settings.moreClientIds ?? [],
            keys: settings.keys.map { $0.map { EncodedObject($0) } }, endpoint: settings.endpoint, allowInsecure: settings.allowInsecure,
            allowPrivateNetwork: settings.allowPrivateNetwork, createdAt: createdAt, updatedAt: updatedAt)
    }
}

// MARK: The client secret

extension IdpRecord {
    /// The name under which a provider's client secret is encrypted.
    private static func secretName(_ tenantId: String, _ providerId: String) -> String { "client secret \(tenantId) \(providerId)" }

    /// Encrypts the client secret of settings.
    static func seal(_ settings: IdpCreate.Params, _ vault: Vault) -> [UInt8]? {
        settings.clientSecret.map {
            vault.seal(SecretBytes(Array($0.utf8)), as: secretName(settings.tenantId, settings.providerId))
        }
    }

    /// - Throws: `SealBroken`.
    package func openSecret(_ vault: Vault) throws -> String? {
        try clientSecret.map {
            String(decoding: try vault.open($0, as: Self.secretName(tenantId, providerId)).copy(), as: UTF8.self)
        }
    }
}
