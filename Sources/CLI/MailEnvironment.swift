import ArgumentParser
import Crypto
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
}
