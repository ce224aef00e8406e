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
    /// The display name of the tenant: its name, otherwise the name under which it sends emails.
    public let tenantName: String?
    /// How long the code is good, if it has one.
    public let lifetimeSeconds: Int64
    /// The tenant's own way to hand it over, its secrets readable.
    public let delivery: TenantDelivery?
    /// The facts of a notice about an account.
    public let notice: NoticeFacts?

    /// - Parameter language: what its reader wants to read.
    init(
        to recipient: Recipient, _ purpose: MessagePurpose, code: String?, lifetimeSeconds: Int64, language: String?, tenant: TenantRecord,
        delivery: TenantDelivery?, notice: NoticeFacts? = nil
    ) {
        to = recipient.text
        channel = recipient.channel
        self.purpose = purpose
        self.code = code
        self.language = language
        tenantId = tenant.id
        tenantName = tenant.settings.name ?? delivery?.smtp?.fromName
        self.lifetimeSeconds = lifetimeSeconds
        self.delivery = delivery
        self.notice = notice
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
        MessageValues(
            code: code, lifetimeSeconds: lifetimeSeconds, tenantName: tenantName,
            namelessTenant: delivery?.smtp?.from.split(separator: "@").last.map(String.init) ?? tenantId, address: to,
            at: notice?.at, what: notice?.what ?? "")
    }

    private var templates: MessageTemplates { delivery?.words ?? MessageTemplates() }

    /// As a mail, and the tag of the language that it is in.
    public var mail: (language: String, MailText) { templates.mail(for: purpose, languages: language.map { [$0] } ?? [], values) }

    /// As a text message, and the tag of the language that it is in.
    public var textMessage: (language: String, text: String) {
        templates.textMessage(for: purpose, languages: language.map { [$0] } ?? [], values)
    }
}

/// The facts of a notice about an account.
public struct NoticeFacts: Hashable, Sendable {
    /// Names the notice, also when it is sent again.
    public let id: String
    /// The time of the change.
    let at: Int64
    /// The name of a factor or a provider, or a number; empty where the purpose says it all.
    let what: String
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
