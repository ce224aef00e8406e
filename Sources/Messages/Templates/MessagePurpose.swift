/// What a message to a person is for.
public enum MessagePurpose: String, Hashable, Sendable, CaseIterable {
    /// The code that shows who owns an address, before an account exists.
    case signUp
    case signIn
    case passwordReset
    /// The code that shows who owns an address that an account is to have.
    case verifyAddress
    /// No code: somebody tries to sign up with an address that has an account, or to give it to another one, and is not to learn it.
    case signUpNotice
    /// No code: to the address that an account had until now, and to the new one.
    case addressChanged
    /// No code: somebody tries to sign in, or to reset a password, with an address that cannot do so, and is not to learn it.
    case noAccountNotice

    // Notices to the owner of an account, without a code.
    case passwordChanged, passwordResetNotice, factorAdded, factorRemoved, providerLinked, providerUnlinked
    case recoveryCodesMade, recoveryCodeUsed, accountLocked, signInAfterFailures
    /// The last one before the limit of an hour is reached.
    case noticesPaused

    /// What a template for it may have filled in.
    public var placeholders: [Placeholder] {
        if carriesCode { return [.code, .minutes, .tenantName, .address] }
        switch self {
        case .signUpNotice, .noAccountNotice: return [.tenantName, .address]
        default: return [.tenantName, .address, .time, .what]
        }
    }

    /// Whether a message without `{{code}}` would be useless.
    var carriesCode: Bool {
        switch self {
        case .signUp, .signIn, .passwordReset, .verifyAddress: true
        default: false
        }
    }
}

/// What a template can have filled in, written `{{code}}`.
public enum Placeholder: String, Hashable, Sendable, CaseIterable {
    /// The one-time code.
    case code
    /// For how many minutes the code is good.
    case minutes
    /// The name that people know the tenant by.
    case tenantName
    /// The mail address or telephone number the message goes to.
    case address
    /// The time of a change, in UTC.
    case time
    /// The name of the factor or provider that a notice is about, or a number.
    case what
}

/// What is filled in.
public struct MessageValues: Hashable, Sendable {
    /// Nil in a message without one.
    public var code: String?
    public var minutes: Int
    /// Nil if the tenant has no name; the built-in texts then name no service.
    public var tenantName: String?
    /// What a tenant's own template gets in the place of `{{tenantName}}` then, so that its sentence stays whole.
    public var namelessTenant: String
    public var address: String
    /// In UTC: `2026-11-22 20:52 UTC`.
    public var time: String
    public var what: String

    /// - Parameters:
    ///   - lifetimeSeconds: for how long the code is good; counted in minutes, begun ones too.
    ///   - moment: the time of a change, in seconds since 1970.
    public init(
        code: String?, lifetimeSeconds: Int64, tenantName: String?, namelessTenant: String = "", address: String, at moment: Int64? = nil,
        what: String = ""
    ) {
        self.code = code
        minutes = Int(clamping: (max(0, lifetimeSeconds) + 59) / 60)
        self.tenantName = tenantName
        self.namelessTenant = namelessTenant
        self.address = address
        time = moment.map(MessageTime.text) ?? ""
        self.what = what
    }

    subscript(_ placeholder: Placeholder) -> String {
        switch placeholder {
        case .code: code ?? ""
        case .minutes: "\(minutes)"
        case .tenantName: tenantName ?? namelessTenant
        case .address: address
        case .time: time
        case .what: what
        }
    }
}
