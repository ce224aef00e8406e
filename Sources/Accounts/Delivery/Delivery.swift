import Contract

/// A sender that serves some channels, depending on the configuration.
public protocol Carrying: Sendable {
    /// Returns whether messages of a tenant can be sent through a channel.
    ///
    /// - Parameter delivery: The tenant's own delivery settings.
    func carries(_ channel: Channel, for delivery: TenantDelivery?) -> Bool
}

extension Carrying {
    public func carries(_ channel: Channel, for delivery: TenantDelivery?) -> Bool { true }
}

/// Sends emails by SMTP or webhook.
public protocol EmailSender: Carrying {
    /// Sends a message. Returns after the server accepted it.
    func send(_ message: OutgoingMessage) throws(DeliveryFailure)
}

/// Sends text messages by webhook.
public protocol SMSSender: Carrying {
    /// Sends a message. Returns after the server accepted it.
    func send(_ message: OutgoingMessage) throws(DeliveryFailure)
}

/// The failure to deliver a message.
public struct DeliveryFailure: Error, Sendable {
    /// The reason, as a sentence for the developer.
    public let reason: String
    /// The time after which a retry can succeed, in seconds; `nil` if it requires a change of the configuration.
    public let retryAfterSeconds: Int64?
    /// Whether the message may have been delivered: the connection failed before the server confirmed it.
    public let mayHaveArrived: Bool

    public init(reason: String, retryAfterSeconds: Int64? = nil, mayHaveArrived: Bool = false) {
        self.reason = reason
        self.retryAfterSeconds = retryAfterSeconds
        self.mayHaveArrived = mayHaveArrived
    }

    /// The error for a channel without a configured sender.
    public static func notConfigured(_ what: String) -> DeliveryFailure {
        let server = what.hasPrefix("no mail") ? "--smtp-url and --mail-from (MINTMARK_SMTP_URL, MINTMARK_MAIL_FROM), or with " : ""
        return DeliveryFailure(
            reason: "\(what) is configured. Set the delivery of the tenant with tenant.update, or start the process with "
                + "\(server)--webhook-url and its secret (MINTMARK_WEBHOOK_URL, MINTMARK_WEBHOOK_SECRET)")
    }
}

/// The destination of messages.
public enum Delivery: Sendable {
    /// Messages are stored; `test.outbox` reads them.
    case outbox
    /// Messages are sent. `nil` means that the channel is not configured.
    case carriers(mailer: (any EmailSender)?, texter: (any SMSSender)?)

    /// No channel is configured.
    public static let none = Delivery.carriers(mailer: nil, texter: nil)

    /// Returns whether messages of a tenant can be sent through a channel.
    func carries(_ channel: Channel, for delivery: TenantDelivery?) -> Bool {
        switch self {
        case .outbox: true
        case .carriers(let mailer, let texter):
            switch channel {
            case .email: mailer?.carries(channel, for: delivery) ?? false
            case .sms: texter?.carries(channel, for: delivery) ?? false
            }
        }
    }

    /// The sender of messages, or `nil` if they are stored.
    var carrier: MessageSender? {
        switch self {
        case .outbox: nil
        case .carriers(let mailer, let texter): MessageSender(mailer: mailer, texter: texter)
        }
    }
}

/// Sends messages by SMTP or webhook.
public struct MessageSender: Sendable {
    package let mailer: (any EmailSender)?
    package let texter: (any SMSSender)?

    package init(mailer: (any EmailSender)?, texter: (any SMSSender)?) {
        self.mailer = mailer
        self.texter = texter
    }

    /// - Throws: `MessageNotSent`.
    func hand(over message: OutgoingMessage) throws {
        do throws(DeliveryFailure) {
            switch message.channel {
            case .email:
                guard let mailer else { throw DeliveryFailure(reason: Self.nowhere("no mail server")) }
                try mailer.send(message)
            case .sms:
                guard let texter else { throw DeliveryFailure(reason: Self.nowhere("no sender of text messages")) }
                try texter.send(message)
            }
        } catch {
            let reason = error.reason.hasSuffix(".") ? String(error.reason.dropLast()) : error.reason
            throw MessageNotSent(
                channel: message.channel, reason: reason, retryAfterSeconds: error.retryAfterSeconds,
                mayHaveArrived: error.mayHaveArrived ? true : nil)
        }
    }

    private static func nowhere(_ what: String) -> String { DeliveryFailure.notConfigured(what).reason }
}
