import Crypto
import Identity
import Messages
import Network
import Platform

/// Hands mails to the configured server, in the built-in English.
struct SMTPMailer: Mailer {
    let settings: MailSettings
    let client: any MailClient
    let clock: any WallClock
    let random: any RandomSource

    /// After which time it is worth to try again what a server refused for now.
    private static let retrySeconds: Int64 = 30

    func send(_ message: OutgoingMessage) throws(DeliveryFailure) {
        let recipient: MailAddress
        do { recipient = try MailAddress(message.to) } catch { throw DeliveryFailure(reason: "\(error)") }
        guard let purpose = MessagePurpose(rawValue: message.purpose.rawValue) else {
            throw DeliveryFailure(reason: "there are no words for \(message.purpose.rawValue)")
        }
        let values = MessageValues(
            code: message.code, lifetimeSeconds: message.lifetimeSeconds, tenantName: message.tenantName, address: message.to)
        let (language, words) = MessageTemplates().mail(for: purpose, languages: [], values)
        let mail = MailMessage(
            from: Mailbox(name: settings.sender.name ?? message.tenantName, address: settings.sender.address),
            to: Mailbox(address: recipient), subject: words.subject, text: words.text, html: words.html, language: language,
            sentAt: clock.now, random: random)
        do { try client.send(MailSubmission(mail, through: settings.server)) } catch {
            throw DeliveryFailure(reason: "\(error)", retryAfterSeconds: error.isRetryable ? Self.retrySeconds : nil)
        }
    }
}
