import Contract
import Crypto
import Platform
import ServiceContext

/// The secrets of a tenant's delivery. They are encrypted in the store, decrypted only to send a message, and never returned.
extension TenantDelivery {
    /// The settings without secrets, as methods return them.
    package var shown: TenantDelivery {
        var shown = self
        shown.smtp?.password = nil
        shown.webhook?.secret = nil
        return shown
    }

    /// Returns the settings with encrypted secrets, as they are stored.
    package func sealed(for tenantId: String, _ vault: Vault) -> TenantDelivery {
        var kept = self
        kept.smtp?.password = smtp?.password.map { Self.seal($0, as: Self.passwordName(tenantId), vault) }
        kept.webhook?.secret = webhook?.secret.map { Self.seal($0, as: Self.secretName(tenantId), vault) }
        return kept
    }

    /// Adds the earlier secrets if they were omitted and the destination is unchanged. Otherwise a caller who can only write settings could
    /// redirect a secret to another server.
    package func keepingSecrets(of earlier: TenantDelivery?) -> TenantDelivery {
        var kept = self
        if let before = earlier?.smtp, smtp?.password == nil, smtp?.login == before.login { kept.smtp?.password = before.password }
        if let before = earlier?.webhook, webhook?.secret == nil, webhook?.url == before.url { kept.webhook?.secret = before.secret }
        return kept
    }

    /// Returns the settings with decrypted secrets, for sending a message.
    ///
    /// - Throws: `SealBroken`.
    package func opened(for tenantId: String, _ vault: Vault) throws -> TenantDelivery {
        var opened = self
        opened.smtp?.password = try smtp?.password.map { try Self.open($0, as: Self.passwordName(tenantId), vault) }
        opened.webhook?.secret = try webhook?.secret.map { try Self.open($0, as: Self.secretName(tenantId), vault) }
        return opened
    }

    private static func passwordName(_ tenantId: String) -> String { "smtp password \(tenantId)" }
    private static func secretName(_ tenantId: String) -> String { "webhook secret \(tenantId)" }

    private static func seal(_ secret: String, as name: String, _ vault: Vault) -> String {
        Base64URL.encode(vault.seal(SecretBytes(Array(secret.utf8)), as: name))
    }

    private static func open(_ text: String, as name: String, _ vault: Vault) throws -> String {
        guard let sealed = Base64URL.decode(text) else { throw SealBroken(name: name) }
        return String(decoding: try vault.open(sealed, as: name).copy(), as: UTF8.self)
    }
}

extension TenantMailServer {
    /// The settings that determine the destination of the password.
    fileprivate var login: [String] { [host, port.map { "\($0)" } ?? "", encryption.rawValue, user ?? ""] }
}
