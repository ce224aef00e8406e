import Contract
import Crypto
import Platform
import ServiceContext

/// The secrets of a tenant's delivery: sealed in the store, open only while a message is handed over, and in no answer.
extension TenantDelivery {
    /// As it is answered.
    var shown: TenantDelivery {
        var shown = self
        shown.smtp?.password = nil
        shown.webhook?.secret = nil
        return shown
    }

    /// As it is kept.
    package func sealed(for tenantId: String, _ vault: Vault) -> TenantDelivery {
        var kept = self
        kept.smtp?.password = smtp?.password.map { Self.seal($0, as: Self.passwordName(tenantId), vault) }
        kept.webhook?.secret = webhook?.secret.map { Self.seal($0, as: Self.secretName(tenantId), vault) }
        return kept
    }

    /// With the secrets that were left out, where they go to the same place as before: whoever can write a tenant's settings, and no
    /// more, cannot have a secret sent elsewhere.
    package func keepingSecrets(of earlier: TenantDelivery?) -> TenantDelivery {
        var kept = self
        if let before = earlier?.smtp, smtp?.password == nil, smtp?.login == before.login { kept.smtp?.password = before.password }
        if let before = earlier?.webhook, webhook?.secret == nil, webhook?.url == before.url { kept.webhook?.secret = before.secret }
        return kept
    }

    /// As a message needs it: what `sealed` made, with its secrets readable.
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
    /// Where a password goes.
    fileprivate var login: [String] { [host, port.map { "\($0)" } ?? "", encryption.rawValue, user ?? ""] }
}
