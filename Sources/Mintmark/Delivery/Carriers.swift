import Accounts
import Contract
import Crypto
import Messages
import Network
import Platform

/// Selects the delivery of a message. The tenant's server or webhook takes precedence over the process configuration. For email,
/// SMTP takes precedence over a webhook.
struct Carriers: EmailSender, SMSSender {
    /// The process configuration.
    let mail: MailSettings?
    let webhook: WebhookEndpoint?
    let mailClient: any MailClient
    let http: any HTTPClient
    let clock: any WallClock
    let random: any RandomSource

    func carries(_ channel: Channel, for delivery: TenantDelivery?) -> Bool {
        if delivery?.webhook != nil || webhook != nil { return true }
        return channel == .email && (delivery?.smtp != nil || mail != nil)
    }

    func send(_ message: OutgoingMessage) throws(DeliveryFailure) {
        if message.channel == .email, let own = message.delivery?.smtp {
            try mailer(MailSettings(own)).send(message)
        } else if let own = message.delivery?.webhook {
            try sender(WebhookEndpoint(own)).send(message)
        } else if message.channel == .email, let mail {
            try mailer(mail).send(message)
        } else if let webhook {
            try sender(webhook).send(message)
        } else {
            throw .notConfigured(message.channel == .email ? "no mail server" : "no sender of text messages")
        }
    }

    private func mailer(_ settings: MailSettings) -> SMTPMailer {
        SMTPMailer(settings: settings, client: mailClient, clock: clock, random: random)
    }

    private func sender(_ endpoint: WebhookEndpoint) -> WebhookSender {
        WebhookSender(endpoint: endpoint, http: http, clock: clock, random: random)
    }
}
