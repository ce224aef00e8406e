import Contract
import Messages

/// A message to one person, in the words of its tenant or the built-in ones.
public struct OutgoingMessage: Sendable {
    /// The address or number.
    public let to: String
    public let channel: Channel
    public let purpose: MessagePurpose
    public let code: String?
    /// What its reader wants to read, as a language tag.
    let language: String?
    public let tenantId: String
    /// What people read as the sender's name.
    public let tenantName: String?
    /// How long the code is good, if it has one.
    public let lifetimeSeconds: Int64
    /// The tenant's own way to hand it over, its secrets readable.
    public let delivery: TenantDelivery?

    /// - Parameter language: what its reader wants to read.
    init(
        to recipient: Recipient, _ purpose: MessagePurpose, code: String?, lifetimeSeconds: Int64, language: String?, tenant: TenantRecord,
        delivery: TenantDelivery?
    ) {
        to = recipient.text
        channel = recipient.channel
        self.purpose = purpose
        self.code = code
        self.language = language
        tenantId = tenant.id
        tenantName = tenant.settings.name
        self.lifetimeSeconds = lifetimeSeconds
        self.delivery = delivery
    }

    /// A message with a code; in a flow that is only for show the notice that belongs there, so that it takes the same time and fails
    /// for the same reasons.
    init(
        to recipient: Recipient, _ purpose: MessagePurpose, code: String, of flow: Flow, lifetimeSeconds: Int64, tenant: TenantRecord,
        delivery: TenantDelivery?
    ) {
        self.init(
            to: recipient, flow.isDecoy ? purpose.notice : purpose, code: flow.isDecoy ? nil : code, lifetimeSeconds: lifetimeSeconds,
            language: flow.language, tenant: tenant, delivery: delivery)
    }

    private var values: MessageValues {
        MessageValues(code: code, lifetimeSeconds: lifetimeSeconds, tenantName: tenantName, address: to)
    }

    private var templates: MessageTemplates { delivery?.words ?? MessageTemplates() }

    /// As a mail, and the tag of the language that it is in.
    public var mail: (language: String, MailText) { templates.mail(for: purpose, languages: language.map { [$0] } ?? [], values) }

    /// As a text message, and the tag of the language that it is in.
    public var textMessage: (language: String, text: String) {
        templates.textMessage(for: purpose, languages: language.map { [$0] } ?? [], values)
    }
}

extension MessagePurpose {
    /// What goes where a code would, to somebody who is to learn what happened while the caller is not.
    fileprivate var notice: MessagePurpose {
        switch self {
        case .signUp, .verifyAddress: .signUpNotice
        default: .noAccountNotice
        }
    }
}
