/// The purpose of a message to a user.
public enum MessagePurpose: String, Hashable, Sendable, CaseIterable {
    /// A code that verifies an email address or phone number before the account exists.
    case signUp
    case signIn
    case passwordReset
    /// A code that verifies a new email address or phone number of an account.
    case verifyAddress
    /// A notice without a code about an attempt to sign up with an address that has an account, or to use it for another account. The
    /// response to the attempt must not reveal that the account exists.
    case signUpNotice
    /// A notice without a code about a change of address. It is sent to the previous and to the new address of the account.
    case addressChanged
    /// A notice without a code about an attempt to sign in, or to reset a password, with an address that has no account or no password.
    /// The response to the attempt must not reveal this.
    case noAccountNotice

    // Notices to the user of an account, without a code.
    case passwordChanged, passwordResetNotice, factorAdded, factorRemoved, providerLinked, providerUnlinked
    case recoveryCodesMade, recoveryCodeUsed, accountLocked, signInAfterFailures
    /// The last notice before the limit per hour is reached.
    case noticesPaused

    // Messages with a link for an action.
    case passwordResetLink, verifyAddressLink, signInLink, changeAddressLink
    /// The notice to the previous address of an account, with a link that undoes the change.
    case addressChangedLink

    /// The placeholders that a template for this purpose can contain.
    public var placeholders: [Placeholder] {
        if carriesCode { return [.code, .minutes, .tenantName, .address] }
        if self == .addressChangedLink { return [.link, .tenantName, .address, .time] }
        if carriesLink { return [.link, .minutes, .tenantName, .address] }
        switch self {
        case .signUpNotice, .noAccountNotice: return [.tenantName, .address]
        default: return [.tenantName, .address, .time, .what]
        }
    }

    /// Whether a message must contain `{{code}}`.
    var carriesCode: Bool {
        switch self {
        case .signUp, .signIn, .passwordReset, .verifyAddress: true
        default: false
        }
    }
}

extension MessagePurpose {
    /// Whether a message must contain `{{link}}`.
    var carriesLink: Bool {
        switch self {
        case .passwordResetLink, .verifyAddressLink, .signInLink, .changeAddressLink, .addressChangedLink: true
        default: false
        }
    }
}

/// A placeholder in a template, written as `{{code}}`.
public enum Placeholder: String, Hashable, Sendable, CaseIterable {
    /// The one-time code.
    case code
    /// The number of minutes for which the code is valid.
    case minutes
    /// The display name of the tenant.
    case tenantName
    /// The email address or phone number of the recipient.
    case address
    /// The time of a change, in UTC.
    case time
    /// The name of the factor or provider that a notice is about, or a number.
    case what
    /// The link that performs an action.
    case link
}

/// The values of the placeholders.
public struct MessageValues: Hashable, Sendable {
    /// The one-time code, or `nil` in a message without a code.
    public var code: String?
    /// The time for which the code is valid, in seconds.
    public var lifetimeSeconds: Int64
    /// The display name of the tenant. If it is `nil`, the built-in texts do not name the service.
    public var tenantName: String?
    /// The text for `{{tenantName}}` in a tenant's own template if the tenant has no name, so that the sentence stays complete.
    public var namelessTenant: String
    public var address: String
    /// The time of a change, in seconds since 1970.
    public var changedAt: Int64?
    public var what: String
    public var link: String?

    public init(
        code: String?, lifetimeSeconds: Int64, tenantName: String?, namelessTenant: String = "", address: String, changedAt: Int64? = nil,
        what: String = "", link: String? = nil
    ) {
        self.code = code
        self.lifetimeSeconds = lifetimeSeconds
        self.tenantName = tenantName
        self.namelessTenant = namelessTenant
        self.address = address
        self.changedAt = changedAt
        self.what = what
        self.link = link
    }

    /// The time for which the code is valid, rounded up to whole minutes.
    public var minutes: Int { Int(clamping: (max(0, lifetimeSeconds) + 59) / 60) }
    /// The time of a change in UTC: `2026-11-22 20:52 UTC`.
    public var time: String { changedAt.map(MessageTime.text) ?? "" }

    subscript(_ placeholder: Placeholder) -> String {
        switch placeholder {
        case .code: code ?? ""
        case .minutes: "\(minutes)"
        case .tenantName: tenantName ?? namelessTenant
        case .address: address
        case .time: time
        case .what: what
        case .link: link ?? ""
        }
    }
}
