import Contract
import Messages

/// A message to one person, in the words of its tenant or the built-in ones.
public struct OutgoingMessage: Sendable {
    /// What it is for.
    public enum Purpose: String, Sendable, CaseIterable {
        case signUp, signIn, passwordReset
        /// Somebody tries to sign up with an address that has an account, and is not to learn it.
        case signUpNotice
        /// Somebody tries to sign in or to reset a password with an address that cannot do so, and is not to learn it.
        case noAccountNotice
    }

    /// The address or number.
    public let to: String
    public let channel: Channel
    public let purpose: Purpose
    public let code: String?
    public let tenantId: String
    /// What people read as the sender's name.
    public let tenantName: String?
    /// How long the code is good.
    public let lifetimeSeconds: Int64
    /// The tenant's own way to hand it over, its secrets readable.
    public let delivery: TenantDelivery?

    /// A mail with a code; in a flow that is only for show the notice that belongs there, so that it takes the same time and fails
    /// for the same reasons.
    init(
        to: String, _ purpose: Purpose, code: String, isDecoy: Bool, tenant: TenantRecord, delivery: TenantDelivery?,
        lifetimeSeconds: Int64
    ) {
        self.to = to
        channel = .email
        self.purpose = isDecoy ? (purpose == .signUp ? .signUpNotice : .noAccountNotice) : purpose
        self.code = isDecoy ? nil : code
        tenantId = tenant.id
        tenantName = tenant.settings.name
        self.lifetimeSeconds = lifetimeSeconds
        self.delivery = delivery
    }

    /// What it is for, as templates name it.
    public var words: MessagePurpose {
        switch purpose {
        case .signUp: .signUp
        case .signIn: .signIn
        case .passwordReset: .passwordReset
        case .signUpNotice: .signUpNotice
        case .noAccountNotice: .noAccountNotice
        }
    }

    private var values: MessageValues {
        MessageValues(code: code, lifetimeSeconds: lifetimeSeconds, tenantName: tenantName, address: to)
    }

    private var templates: MessageTemplates { delivery?.words ?? MessageTemplates() }

    /// As a mail, and the tag of the language that it is in.
    public var mail: (language: String, MailText) { templates.mail(for: words, languages: [], values) }

    /// As a text message, and the tag of the language that it is in.
    public var textMessage: (language: String, String) { templates.textMessage(for: words, languages: [], values) }
}
