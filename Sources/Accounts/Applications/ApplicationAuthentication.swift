import Contract
import Crypto
import ServiceContext

/// Authenticates confidential applications with their secrets (RFC 6749 §2.3.1).
///
/// The secrets are part of the cached tenant. A secret has 256 random bits, so an HMAC protects it, and guesses need no limit.
package struct ApplicationAuthentication: Sendable {
    private let key: SecretBytes

    package init(_ context: AccountsContext) { key = context.vault.subkey("client secret") }

    func mac(of secret: String) -> [UInt8] { HMAC.sha256(key: key, Array(secret.utf8)) }

    /// Returns the application that a secret authenticates, for requests that only a confidential application can send.
    ///
    /// - Throws: `ClientUnknown`, `ClientSecretInvalid`.
    package func application(_ clientId: String, secret: String, of tenant: TenantRecord) throws -> ApplicationRecord {
        let application = try tenant.knownApplication(clientId)
        _ = try isAuthenticated(application, by: secret)
        return application
    }

    /// Verifies the secret of a request that names an application.
    ///
    /// - Parameter secret: The secret in the request, if any.
    /// - Returns: `false` if the application has no secret and the request contains none.
    /// - Throws: `ClientSecretInvalid`.
    package func isAuthenticated(_ application: ApplicationRecord, by secret: String?) throws -> Bool {
        func refuse(_ reason: String) -> ClientSecretInvalid {
            ClientSecretInvalid(clientId: application.clientId, reason: reason)
        }
        guard let secret else {
            if application.secrets.isEmpty { return false }
            throw refuse("its secret is missing; send it as clientSecret")
        }
        if application.settings.type == .public { throw refuse("it is public and has no secret; omit clientSecret") }
        if application.secrets.isEmpty { throw refuse("it has no secret; generate one with application.addSecret") }
        let given = mac(of: secret)
        // All secrets are compared, so that the time does not depend on which one matches.
        let matches = application.secrets.filter { constantTimeEquals($0.mac, given) }
        if matches.isEmpty { throw refuse("the secret is wrong or was deleted; application.get lists the hints of its secrets") }
        return true
    }

    /// Returns the application that starts a flow in its own user interface.
    ///
    /// - Parameter isVerified: Whether the caller has verified the secret.
    /// - Throws: `ClientUnknown`, `ClientNotPermitted`, `ClientSecretInvalid`.
    func nativeApplication(
        _ clientId: String?, secret: String?, isVerified: Bool, of tenant: TenantRecord
    ) throws -> ApplicationRecord {
        let application = try tenant.knownApplication(clientId)
        let isAuthenticated = try isVerified || isAuthenticated(application, by: secret)
        return try tenant.nativeApplication(clientId, isAuthenticated: isAuthenticated)
    }
}
