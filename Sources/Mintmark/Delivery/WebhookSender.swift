import Accounts
import Contract
import Crypto
import Messages
import Network
import Platform

/// Posts signed messages to a webhook that delivers them: text messages, and email if no mail server is configured.
struct WebhookSender: EmailSender, SMSSender {
    let endpoint: WebhookEndpoint
    let http: any HTTPClient
    let clock: any WallClock
    let random: any RandomSource

    /// The time after which to retry, unless the receiver specifies another.
    private static let retrySeconds: Int64 = 30

    func send(_ message: OutgoingMessage) throws(DeliveryFailure) {
        do throws(WebhookFailure) {
            try Webhook(endpoint, http: http, clock: clock).post(posted(message), id: id(of: message))
        } catch {
            let retry: Int64? =
                if case .refused(_, let seconds?) = error { Int64(seconds) } else { error.isRetryable ? Self.retrySeconds : nil }
            throw DeliveryFailure(reason: "\(error)", retryAfterSeconds: retry, mayHaveArrived: error.mayHaveArrived)
        }
    }

    /// Repeated notices have the same ID, so that a receiver can discard duplicates.
    private func id(of message: OutgoingMessage) -> WebhookId {
        message.notice.flatMap { WebhookId($0.id) } ?? WebhookId(random: random)
    }

    private func posted(_ message: OutgoingMessage) -> WebhookMessage {
        let expiresAt = message.code.map { _ in clock.now + message.lifetimeSeconds }
        switch message.channel {
        case .email:
            let (language, mail) = message.mail
            var posted = WebhookMessage(
                channel: .email, to: message.to, purpose: message.purpose, tenantId: message.tenantId, language: language,
                code: message.code, expiresAt: expiresAt, subject: mail.subject, text: mail.text, html: mail.html)
            posted.link = message.link
            return posted
        case .sms:
            let (language, text) = message.textMessage
            return WebhookMessage(
                channel: .sms, to: message.to, purpose: message.purpose, tenantId: message.tenantId, language: language,
                code: message.code, expiresAt: expiresAt, text: text)
        }
    }
}

extension WebhookEndpoint {
    /// Creates the sender from the webhook of a tenant.
    ///
    /// - Throws: `DeliveryFailure` if the stored settings are not valid, which is possible if another program wrote the store.
    init(_ tenant: TenantWebhook) throws(DeliveryFailure) {
        do { self = try tenant.endpoint(secret: tenant.secret ?? "") } catch {
            throw DeliveryFailure(reason: "\(error)")
        }
    }
}
