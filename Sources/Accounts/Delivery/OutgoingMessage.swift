import Contract
import Messages

/// A message to one recipient, rendered with the templates of its tenant or the built-in ones.
public struct OutgoingMessage: Sendable {
    /// The email address or phone number.
    public let to: String
    public let channel: Channel
    public let purpose: MessagePurpose
    public let code: String?
    /// The language of the user, as a language tag.
    let language: String?
    public let tenantId: String
    /// The display name of the tenant: its name, otherwise the name under which it sends emails.
    public let tenantName: String?
    /// The lifetime of the code, in seconds, if the message has one.
    public let lifetimeSeconds: Int64
    /// The tenant's own delivery settings, with decrypted secrets.
    public let delivery: TenantDelivery?
    /// The facts of a notice about an account.
    public let notice: NoticeFacts?
    /// The link in the message, if it has one.
    public private(set) var link: String?

    /// - Parameter language: The language of the user, as a language tag.
    init(_ content: MessageContent, to recipient: Recipient, language: String?, tenant: TenantRecord, delivery: TenantDelivery?) {
        to = recipient.text
        channel = recipient.channel
        purpose = content.purpose
        code = content.code
        self.language = language
        tenantId = tenant.id
        tenantName = tenant.settings.name ?? delivery?.smtp?.fromName
        lifetimeSeconds = content.lifetimeSeconds
        self.delivery = delivery
        notice = content.notice
        // The fact of this notice is the link that undoes the change.
        link = purpose == .addressChangedLink ? notice?.what : nil
    }

    /// A message with a link for an action.
    init(_ action: ActionMessage, language: String?, tenant: TenantRecord, delivery: TenantDelivery?) {
        let content = MessageContent(
            purpose: action.purpose, code: action.code, lifetimeSeconds: action.lifetimeSeconds,
            notice: NoticeFacts(id: "", at: action.at, what: ""))
        self.init(content, to: .email(action.to), language: language, tenant: tenant, delivery: delivery)
        link = action.link
    }

    /// A message with a code. For a decoy flow, the corresponding notice without a code, so that timing and failures are the same.
    init(_ content: MessageContent, to recipient: Recipient, of flow: Flow, tenant: TenantRecord, delivery: TenantDelivery?) {
        var content = content
        if flow.isDecoy { (content.purpose, content.code) = (content.purpose.notice, nil) }
        self.init(content, to: recipient, language: flow.language, tenant: tenant, delivery: delivery)
    }

    private var values: MessageValues {
        MessageValues(
            code: code, lifetimeSeconds: lifetimeSeconds, tenantName: tenantName,
            namelessTenant: delivery?.smtp?.from.split(separator: "@").last.map(String.init) ?? tenantId, address: to,
            changedAt: notice?.at, what: notice?.what ?? "", link: link)
    }

    private var templates: MessageTemplates { delivery?.words ?? MessageTemplates() }

    /// The message as an email, and the language tag of its template.
    public var mail: (language: String, MailText) { templates.mail(for: purpose, languages: language.map { [$0] } ?? [], values) }

    /// The message as a text message, and the language tag of its template.
    public var textMessage: (language: String, text: String) {
        templates.textMessage(for: purpose, languages: language.map { [$0] } ?? [], values)
    }
}

/// The content of a message before the templates are applied.
struct MessageContent {
    var purpose: MessagePurpose
    /// The code, or `nil` for a message without one.
    var code: String?
    /// The lifetime of the code, in seconds.
    var lifetimeSeconds: Int64 = 0
    /// The facts of a notice about an account.
    var notice: NoticeFacts?
}

/// A message with a link for an action.
struct ActionMessage {
    let purpose: MessagePurpose
    let to: String
    let code: String
    let link: String
    let lifetimeSeconds: Int64
    /// The time of the request.
    let at: Int64
}

/// The facts of a notice about an account.
public struct NoticeFacts: Hashable, Sendable {
    /// The ID of the notice, which is the same for all attempts to send it.
    public let id: String
    /// The time of the change.
    let at: Int64
    /// The name of a factor or provider, or a number. Empty if the purpose needs no detail.
    let what: String
}

extension MessagePurpose {
    /// The notice that replaces a code in a decoy flow. It informs the owner of the address without revealing anything to the caller.
    fileprivate var notice: MessagePurpose {
        switch self {
        case .signUp, .verifyAddress: .signUpNotice
        default: .noAccountNotice
        }
    }
}
