import Contract

/// Knows whether a channel is configured.
public protocol Carrying: Sendable {
    /// Whether messages of a tenant can be sent through a channel.
    ///
    /// - Parameter delivery: the tenant's own settings.
    func carries(_ channel: Channel, for delivery: TenantDelivery?) -> Bool
}

extension Carrying {
    public func carries(_ channel: Channel, for delivery: TenantDelivery?) -> Bool { true }
}

/// Hands mails over to whoever carries them.
public protocol Mailer: Carrying {
    /// Returns when the message was taken.
    func send(_ message: OutgoingMessage) throws(DeliveryFailure)
}

/// Hands text messages over to whoever carries them.
public protocol Texter: Carrying {
    /// Returns when the message was taken.
    func send(_ message: OutgoingMessage) throws(DeliveryFailure)
}

/// A message that was not taken.
public struct DeliveryFailure: Error, Sendable {
    /// For people.
    public let reason: String
    /// After which time it can be tried again; nil: not without a change.
    public let retryAfterSeconds: Int64?
    /// Whether nobody knows: the message was on its way when the answer failed to come.
    public let mayHaveArrived: Bool

    public init(reason: String, retryAfterSeconds: Int64? = nil, mayHaveArrived: Bool = false) {
        self.reason = reason
        self.retryAfterSeconds = retryAfterSeconds
        self.mayHaveArrived = mayHaveArrived
    }

    /// Nobody was named who could take it.
    public static func notConfigured(_ what: String) -> DeliveryFailure {
        let server = what.hasPrefix("no mail") ? "--smtp-url and --mail-from (MINTMARK_SMTP_URL, MINTMARK_MAIL_FROM), or with " : ""
        return DeliveryFailure(
            reason: "\(what) is configured. Set the delivery of the tenant with tenant.update, or start the process with "
                + "\(server)--webhook-url and its secret (MINTMARK_WEBHOOK_URL, MINTMARK_WEBHOOK_SECRET)")
    }
}

/// Where messages go.
public enum Delivery: Sendable {
    /// Into the store, where `test.outbox` reads them.
    case outbox
    /// To whoever carries them; nil: nobody carries this kind.
    case carriers(mailer: (any Mailer)?, texter: (any Texter)?)

    /// Nobody carries anything.
    public static let none = Delivery.carriers(mailer: nil, texter: nil)

    /// Whether messages of a tenant can be sent through a channel.
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

    /// Who carries them, nil if they stay in the store.
    var carrier: Carrier? {
        switch self {
        case .outbox: nil
        case .carriers(let mailer, let texter): Carrier(mailer: mailer, texter: texter)
        }
    }
}

/// Whoever carries messages away.
public struct Carrier: Sendable {
    package let mailer: (any Mailer)?
    package let texter: (any Texter)?

    package init(mailer: (any Mailer)?, texter: (any Texter)?) {
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
