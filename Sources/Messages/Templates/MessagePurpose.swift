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
    /// No code: to the address that an account had until now.
    case addressChanged
    /// No code: somebody tries to sign in, or to reset a password, with an address that cannot do so, and is not to learn it.
    case noAccountNotice

    /// What a template for it may have filled in.
    public var placeholders: [Placeholder] { carriesCode ? Placeholder.allCases : [.tenantName, .address] }

    /// Whether a message without `{{code}}` would be useless.
    var carriesCode: Bool {
        switch self {
        case .signUp, .signIn, .passwordReset, .verifyAddress: true
        case .signUpNotice, .noAccountNotice, .addressChanged: false
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
}

/// What is filled in.
public struct MessageValues: Hashable, Sendable {
    /// Nil in a message without one.
    public var code: String?
    public var minutes: Int
    /// Nil if people know the tenant by none; a template that asks for it nevertheless gets nothing there.
    public var tenantName: String?
    public var address: String

    /// - Parameter lifetimeSeconds: for how long the code is good; counted in minutes, begun ones too.
    public init(code: String?, lifetimeSeconds: Int64, tenantName: String?, address: String) {
        self.code = code
        minutes = Int(clamping: (max(0, lifetimeSeconds) + 59) / 60)
        self.tenantName = tenantName
        self.address = address
    }

    subscript(_ placeholder: Placeholder) -> String {
        switch placeholder {
        case .code: code ?? ""
        case .minutes: "\(minutes)"
        case .tenantName: tenantName ?? ""
        case .address: address
        }
    }
}
