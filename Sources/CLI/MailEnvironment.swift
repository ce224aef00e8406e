import ArgumentParser
import Crypto
import Messages
import Mintmark
import Network

extension StoreSettings {
    /// The mail server that the environment names: `MINTMARK_SMTP`, `MINTMARK_MAIL_FROM`, and where they are needed
    /// `MINTMARK_SMTP_USER` and `MINTMARK_SMTP_PASSWORD`.
    ///
    /// - Throws: `ValidationError` for what cannot be used.
    func mail() throws -> MailSettings? {
        guard let url = Environment["SMTP"] else { return nil }
        guard let from = Environment["MAIL_FROM"] else {
            throw ValidationError("MINTMARK_SMTP needs MINTMARK_MAIL_FROM, the address that mails come from.")
        }
        var login: SMTPServer.Login?
        if let user = Environment["SMTP_USER"] {
            guard let password = Environment["SMTP_PASSWORD"] else {
                throw ValidationError("MINTMARK_SMTP_USER needs MINTMARK_SMTP_PASSWORD.")
            }
            login = SMTPServer.Login(user: user, password: SecretBytes(Array(password.utf8)))
        }
        do {
            let isUnencrypted = try Environment.flag("SMTP_UNENCRYPTED", or: false)
            return MailSettings(
                server: try SMTPServer(url: url, isUnencrypted: isUnencrypted, login: login),
                sender: Mailbox(address: try MailAddress(from)))
        } catch let error as ValidationError {
            throw error
        } catch { throw ValidationError("MINTMARK_SMTP, MINTMARK_MAIL_FROM: \(error)") }
    }

    /// Who is posted messages to send: `MINTMARK_WEBHOOK_URL` and `MINTMARK_WEBHOOK_SECRET`. Whoever starts the process may name a
    /// machine of the private network, and with plain http this one.
    ///
    /// - Throws: `ValidationError` for what cannot be used.
    func webhook() throws -> WebhookEndpoint? {
        guard let url = Environment["WEBHOOK_URL"] else { return nil }
        guard let secret = Environment["WEBHOOK_SECRET"] else {
            throw ValidationError("MINTMARK_WEBHOOK_URL needs MINTMARK_WEBHOOK_SECRET, which posts are signed with.")
        }
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw ValidationError("MINTMARK_WEBHOOK_URL is an https URL.")
        }
        do {
            return try WebhookEndpoint(
                url: url, secrets: [SecretBytes(Array(secret.utf8))],
                policy: HTTPPolicy(allowsInsecureLoopback: url.hasPrefix("http://"), allowsPrivateNetwork: true))
        } catch { throw ValidationError("MINTMARK_WEBHOOK_SECRET: \(error)") }
    }
}
