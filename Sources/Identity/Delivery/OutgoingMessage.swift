import Contract
import Messages

/// A message to one person, in the words of its tenant or the built-in ones.
public struct OutgoingMessage: Sendable {
    /// The address or number.
    public let to: String
    public let channel: Channel
    public let purpose: MessagePurpose
    public let code: String?
    public let tenantId: String
    /// What people read as the sender's name.
    public let tenantName: String?
    /// How long the code is good, if it has one.
    public let lifetimeSeconds: Int64
    /// The tenant's own way to hand it over, its secrets readable.
    public let delivery: TenantDelivery?

    init(
        to: String, _ purpose: MessagePurpose, code: String?, lifetimeSeconds: Int64 = 0, tenant: TenantRecord, delivery: TenantDelivery?
    ) {
        self.to = to
        channel = .email
        self.purpose = purpose
        self.code = code
        tenantId = tenant.id
        tenantName = tenant.settings.name
        self.lifetimeSeconds = lifetimeSeconds
        self.delivery = delivery
    }

    /// A mail with a code; in a flow that is only for show the notice that belongs there, or nothing.
    init?(
        to: String, _ purpose: MessagePurpose, code: String, isDecoy: Bool, lifetimeSeconds: Int64, tenant: TenantRecord,
        delivery: TenantDelivery?
    ) {
        if isDecoy, purpose != .signUp { return nil }
        self.init(
            to: to, isDecoy ? .signUpNotice : purpose, code: isDecoy ? nil : code, lifetimeSeconds: lifetimeSeconds, tenant: tenant,
            delivery: delivery)
    }

    private var values: MessageValues {
        MessageValues(code: code, lifetimeSeconds: lifetimeSeconds, tenantName: tenantName, address: to)
    }

    private var templates: MessageTemplates { delivery?.words ?? MessageTemplates() }

    /// As a mail, and the tag of the language that it is in.
    public var mail: (language: String, MailText) { templates.mail(for: purpose, languages: [], values) }

    /// As a text message, and the tag of the language that it is in.
    public var textMessage: (language: String, String) { templates.textMessage(for: purpose, languages: [], values) }
}
