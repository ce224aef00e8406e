import Accounts
import Contract
import Crypto
import Network
import Platform

/// Sends email messages through an SMTP server, with the subject and text of the message.
struct SMTPMailer: EmailSender {
    let settings: MailSettings
    let client: any MailClient
    let clock: any WallClock
    let random: any RandomSource

    /// The time after which to retry a message that the server rejected temporarily.
    private static let retrySeconds: Int64 = 30

    func send(_ message: OutgoingMessage) throws(DeliveryFailure) {
        let recipient: MailAddress
        do { recipient = try MailAddress(message.to) } catch { throw DeliveryFailure(reason: "\(error)") }
        let (language, words) = message.mail
        let sender = Mailbox(name: settings.sender.name ?? message.tenantName, address: settings.sender.address)
        let mail = MailMessage(
            from: sender, to: Mailbox(address: recipient), replyTo: settings.replyTo, subject: words.subject, text: words.text,
            html: words.html, language: language, sentAt: clock.now, messageId: MailMessage.newId(from: sender, random: random))
        do { try client.send(MailSubmission(mail, through: settings.server)) } catch {
            throw DeliveryFailure(
                reason: "\(error)", retryAfterSeconds: error.isRetryable ? Self.retrySeconds : nil, mayHaveArrived: error.mayHaveArrived)
        }
    }
}

extension MailSettings {
    /// Creates the settings from the mail server of a tenant.
    ///
    /// - Throws: `DeliveryFailure` if the stored settings are not valid, which is possible if another program wrote the store.
    init(_ tenant: TenantMailServer) throws(DeliveryFailure) {
        do {
            self.init(
                server: try tenant.server(), sender: Mailbox(name: tenant.fromName, address: try MailAddress(tenant.from)),
                replyTo: try tenant.replyTo.map { Mailbox(address: try MailAddress($0)) })
        } catch { throw DeliveryFailure(reason: "\(error)") }
    }
}
