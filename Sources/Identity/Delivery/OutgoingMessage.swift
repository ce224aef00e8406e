import Contract

/// A message to one person, with the words it has unless the tenant has its own.
public struct OutgoingMessage: Sendable {
    /// What it is for.
    public enum Purpose: String, Sendable, CaseIterable {
        case signUp, signIn, passwordReset
        /// Somebody tries to sign up with an address that has an account, and is not to learn it.
        case signUpNotice
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

    /// A mail with a code; in a flow that is only for show the notice that belongs there, or nothing.
    init?(to: String, _ purpose: Purpose, code: String, isDecoy: Bool, tenant: TenantRecord, lifetimeSeconds: Int64) {
        if isDecoy, purpose != .signUp { return nil }
        self.to = to
        channel = .email
        self.purpose = isDecoy ? .signUpNotice : purpose
        self.code = isDecoy ? nil : code
        tenantId = tenant.id
        tenantName = tenant.settings.name
        self.lifetimeSeconds = lifetimeSeconds
    }

    public var subject: String {
        let place = tenantName.map { " for \($0)" } ?? ""
        return code.map { "\($0) is your code\(place)" } ?? "You have an account\(place.isEmpty ? " already" : place)"
    }

    public var text: String {
        guard let code else {
            return
                "Somebody, perhaps you, tried to sign up with this address, which has an account already. Sign in instead. If it was not you, nothing needs to be done."
        }
        let minutes = (lifetimeSeconds + 59) / 60
        let purpose =
            switch purpose {
            case .signUp, .signUpNotice: "sign up"
            case .signIn: "sign in"
            case .passwordReset: "choose a new password"
            }
        return
            "Your code to \(purpose) is \(code). It is good for \(minutes) \(minutes == 1 ? "minute" : "minutes"). If you did not ask for it, nothing needs to be done."
    }
}
