import Arguments
import Crypto
import Messages
import Mintmark
import Network
import Platform

/// The delivery of messages from the command line, with the environment as the fallback.
struct DeliverySettings {
    var smtpURL: String?
    var mailFrom: String?
    var smtpUser: String?
    var smtpPasswordFile: String?
    var smtpUnencrypted = false
    var webhookURL: String?
    var webhookSecretFile: String?

    /// Returns the mail server and the sender, or `nil` if no server is configured.
    ///
    /// - Throws: `ValidationError` for a value that is not valid, and for a value that requires a server if none is configured.
    func mail() throws -> MailSettings? {
        let from = OptionValue(mailFrom, "--mail-from", "MAIL_FROM")
        let user = OptionValue(smtpUser, "--smtp-user", "SMTP_USER")
        let password = try OptionValue(secret: "SMTP_PASSWORD", file: smtpPasswordFile, "--smtp-password-file")
        guard let url = OptionValue(smtpURL, "--smtp-url", "SMTP_URL", "SMTP") else {
            if let lonely = from ?? user ?? password {
                throw ValidationError(
                    "\(lonely.source) requires an SMTP server: --smtp-url smtp://mail.example.com:587 (or MINTMARK_SMTP_URL).")
            }
            return nil
        }
        guard let from else {
            throw ValidationError("\(url.source) requires --mail-from (or MINTMARK_MAIL_FROM), the sender address of emails.")
        }
        if url.value.contains("@") {
            throw ValidationError(
                "\(url.source) must not contain a user name or password. Set the user name with --smtp-user (or MINTMARK_SMTP_USER), the password with MINTMARK_SMTP_PASSWORD "
                    + "or a file in --smtp-password-file.")
        }
        let sender: MailAddress
        do throws(MailAddress.Refusal) { sender = try MailAddress(from.value) } catch {
            throw ValidationError("\(from.source): '\(from.value)' is not valid. \(error)")
        }
        let login = try Self.login(user, password)
        let isUnencrypted = try Environment.flag("SMTP_UNENCRYPTED", or: smtpUnencrypted)
        do throws(SMTPServer.Refusal) {
            return MailSettings(
                server: try SMTPServer(url: url.value, isUnencrypted: isUnencrypted, login: login), sender: Mailbox(address: sender))
        } catch {
            if error == .login, let user { throw ValidationError("\(user.source): \(error)") }
            throw ValidationError("\(url.source): '\(url.value)' is not valid. \(error)")
        }
    }

    private static func login(_ user: OptionValue?, _ password: OptionValue?) throws -> SMTPServer.Login? {
        switch (user, password) {
        case (nil, nil): return nil
        case (let user?, let password?): return SMTPServer.Login(user: user.value, password: SecretBytes(Array(password.value.utf8)))
        case (let user?, nil):
            throw ValidationError("\(user.source) requires a password: set MINTMARK_SMTP_PASSWORD or --smtp-password-file.")
        case (nil, let password?):
            throw ValidationError("\(password.source) requires a user name: set --smtp-user (or MINTMARK_SMTP_USER).")
        }
    }

    /// Returns the webhook that sends messages, or `nil` if none is configured. The user who starts the process can use an address in the
    /// private network, and a loopback address with plain http.
    ///
    /// - Throws: `ValidationError` for a value that is not valid.
    func webhook() throws -> WebhookEndpoint? {
        let secret = try OptionValue(secret: "WEBHOOK_SECRET", file: webhookSecretFile, "--webhook-secret-file")
        guard let url = OptionValue(webhookURL, "--webhook-url", "WEBHOOK_URL") else {
            if let secret {
                throw ValidationError(
                    "\(secret.source) requires a webhook: set --webhook-url https://hooks.example.com/mintmark (or MINTMARK_WEBHOOK_URL)."
                )
            }
            return nil
        }
        guard let secret else {
            throw ValidationError(
                "\(url.source) requires a secret that signs posts: set MINTMARK_WEBHOOK_SECRET or --webhook-secret-file. "
                    + "To generate one, run `openssl rand -hex 32`.")
        }
        do throws(WebhookEndpoint.Refusal) {
            return try WebhookEndpoint(
                url: url.value, secrets: [SecretBytes(Array(secret.value.utf8))],
                policy: HTTPPolicy(allowsInsecureLoopback: HTTPURL.Scheme(beginning: url.value) == .http, allowsPrivateNetwork: true))
        } catch {
            throw ValidationError("\(error.isOfSecret ? secret.source : url.source): \(error)")
        }
    }
}
